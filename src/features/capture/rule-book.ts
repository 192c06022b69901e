/** The rules of operators in the keeper: added and removed in the store, from where all workers of all nodes have them. */
import { Slot } from "../../core/slot.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import type { Actor } from "../../keeper/store/store.ts";
import { AdminError, conflict } from "../../operator/errors.ts";
import type { CaptureRule } from "./contracts.ts";
import { RULES_TABLE } from "./tables.ts";

/** What the part in the keeper offers to the operations. */
export const ruleBook = new Slot<RuleBook>();

/** Most rules that have not ended. */
const MOST = 100;

interface Row {
  id: string;
  kind: CaptureRule["on"]["kind"];
  what: string;
  path: string;
  actor: string;
  created: number | string;
  ends: number | string;
}

export class RuleBook {
  readonly #host: Pick<KeeperHost, "change" | "read" | "settled">;
  /** Workers whose config forbids rules at run time. */
  readonly #forbidding = new Set<object>();

  constructor(host: Pick<KeeperHost, "change" | "read" | "settled">) {
    this.#host = host;
  }

  /** A worker says what its config permits. @param worker whatever stands for its connection */
  noted(worker: object, onDemand: boolean): void {
    if (onDemand) this.#forbidding.delete(worker);
    else this.#forbidding.add(worker);
  }

  gone(worker: object): void {
    this.#forbidding.delete(worker);
  }

  get isOff(): boolean {
    return this.#forbidding.size > 0;
  }

  /** @throws AdminError 409 */
  expectOn(): void {
    if (this.isOff)
      throw new AdminError(
        409,
        "capture_off",
        "The option capture.onDemand of the config is off: only the config says which calls are captured.",
      );
  }

  /** Those that have not ended, the newest first. */
  async list(): Promise<CaptureRule[]> {
    const rows = await this.#host.read((sql) =>
      sql.all<Row & Record<string, string | number>>(
        `SELECT id, kind, what, path, actor, created, ends FROM ${RULES_TABLE}
         WHERE deleted_at IS NULL AND ends > $1 ORDER BY created DESC, id`,
        [Date.now()],
      ),
    );
    return rows.map(({ id, kind, what, path, actor, created, ends }) => ({
      ...{ id, on: { kind, what }, path, by: actor },
      ...{ createdAt: Number(created), endsAt: Number(ends) },
    }));
  }

  /** Resolves when all workers have it. @throws AdminError 409 */
  async add(rule: CaptureRule, actor: Actor): Promise<void> {
    const { id, on, path, by, createdAt, endsAt } = rule;
    if ((await this.list()).length >= MOST)
      throw conflict(`There are ${MOST} rules already; remove one of them.`);
    await this.#host.change(actor, "create", `captures/${id}`, async (sql, version) => {
      await sql.run(
        `UPDATE ${RULES_TABLE} SET deleted_at = $1, version = $2 WHERE deleted_at IS NULL AND ends <= $1`,
        [createdAt, version],
      );
      await sql.run(
        `INSERT INTO ${RULES_TABLE} (id, kind, what, path, actor, created, ends, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [id, on.kind, on.what, path, by, createdAt, endsAt, version],
      );
      return { before: null, after: { on, path, endsAt } };
    });
    await this.#host.settled();
  }

  /** Resolves when no worker has it any more. */
  async remove({ id, on, path, endsAt }: CaptureRule, actor: Actor): Promise<void> {
    await this.#host.change(actor, "delete", `captures/${id}`, async (sql, version) => {
      await sql.run(`UPDATE ${RULES_TABLE} SET deleted_at = $1, version = $2 WHERE id = $3`, [
        Date.now(),
        version,
        id,
      ]);
      return { before: { on, path, endsAt }, after: null };
    });
    await this.#host.settled();
  }
}
