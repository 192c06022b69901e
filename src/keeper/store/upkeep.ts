/** Services of a SQLite store besides the books: reports, copies, checks, retention. */
import { chmodSync, existsSync, rmSync, statSync } from "node:fs";
import type { Store } from "../../operator/books.ts";
import { AdminError } from "../../operator/errors.ts";
import type { Keep } from "../../ledger/keep.ts";
import { IN_MEMORY } from "../settings.ts";
import { removeKey } from "../record/deletion.ts";
import { countKey, keptOf, type Pruned, type PruneRequest } from "../record/due.ts";
import { timeOf } from "./numbers.ts";
import { writeAudit } from "./audit-log.ts";
import { Reader } from "./reader.ts";
import { Reports } from "../reports/reports.ts";
import type { AuditReport } from "../reports/shapes.ts";
import { Retention } from "../record/retention.ts";
import { DAY_MS } from "../record/roll-ups.ts";
import type { Sql } from "./sql.ts";
import type { SqlStore } from "./sql-store.ts";
import { copiesOf } from "./sqlite-store.ts";
import type { Actor } from "./store.ts";

/** Books in memory have less room than on a disk. Bytes. */
const MEMORY_BYTES = 64 * 1024 ** 2;
/** Daily copies that are kept. */
const COPIES = 7;
const LOOK_MS = 600_000;
const CHECKPOINT_MS = 1_000;
const CHECK_MS = 10_000;
/** Rows that are changed before a checkpoint is worth its syncs. */
const CHANGES = 2_000;
const PAUSE_MS = 100;

/** Facts of a store that are in it; what waits to be written, the books know. */
export type UpkeepInfo = Omit<Store, "waiting" | "fault">;

/** The functions of the store besides those that the books need. */
export interface Upkeep {
  readonly reports: Reports;
  /** Commits that wait on the disk, because the store is away. */
  readonly spooled?: number;
  info(): Promise<UpkeepInfo>;
  backup(path: string, actor: Actor): Promise<{ bytes: number }>;
  check(): Promise<AuditReport>;
  /** Deletes the rows of a key, or what is older than the retention, or counts them. The sums stay. */
  prune(what: PruneRequest, actor: Actor): Promise<Pruned>;
  release(actor: Actor): Promise<void>;
  openKeys(actor: Actor): Promise<void>;
  /** Sets the limits of age and size beyond which the store deletes. */
  keep?(settings: Keep): void;
  close(): Promise<void>;
}

export class SqlUpkeep implements Upkeep {
  readonly reports: Reports;
  readonly #path: string;
  readonly #store: SqlStore;
  readonly #reader: Reader | undefined;
  /** A check of a large file takes minutes: no report waits for it. */
  readonly #slow: Reader | undefined;
  readonly #retention: Retention;
  readonly #now: () => number;
  readonly #timers: readonly Timer[];
  /** Rows that were changed until the last checkpoint. */
  #changes = 0;

  /** @param store need not be open yet @param path of its file, or `IN_MEMORY` */
  constructor(store: SqlStore, path: string, now: () => number = Date.now) {
    this.#store = store;
    this.#path = path;
    this.#now = now;
    this.#reader = path === IN_MEMORY ? undefined : new Reader(path);
    this.#slow = this.#reader && new Reader(path);
    this.reports = new Reports(this.#sql, store.current, now, this.#slow, store.tables);
    this.#retention = new Retention(store.current, now, () => this.#usedBytes(store.current), store.tables);
    this.#timers = [
      setTimeout(() => void this.#checkFile().catch(() => {}), CHECK_MS),
      setInterval(() => void this.#copyDaily().catch(() => {}), LOOK_MS),
      setInterval(() => void this.#checkpoint().catch(() => {}), CHECKPOINT_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  /** The rows that retention deletes. */
  keep(keep: Keep): void {
    const most = this.#path === IN_MEMORY ? MEMORY_BYTES : keep.callBytes;
    this.#retention.keep = { ...keep, callBytes: Math.min(keep.callBytes, most) };
  }

  async info(): Promise<UpkeepInfo> {
    const [row] = await this.#sql.all<{ calls: number; oldest: number | null }>(
      "SELECT (SELECT count(*) FROM calls) AS calls, (SELECT min(number) FROM calls) AS oldest",
    );
    const isMemory = this.#path === IN_MEMORY;
    const { keep } = this.#retention;
    const lastBackup = await this.#lastBackup();
    return {
      kind: isMemory ? "memory" : "sqlite",
      place: isMemory ? "memory" : this.#path,
      bytes: await this.#usedBytes(this.#sql),
      calls: row!.calls,
      ...(row!.oldest !== null && { oldestCall: timeOf(row!.oldest) }),
      ...(keep && { keep: { ...keep.keepDays, callBytes: keep.callBytes } }),
      ...(lastBackup && { lastBackup }),
      ...(this.reports.auditing && { auditing: this.reports.auditing }),
    };
  }

  /** The newest copy that an operator asked for, or that weir made by itself. */
  async #lastBackup(): Promise<Store["lastBackup"]> {
    const [row] = await this.#sql.all<{ at: number; after: string }>(
      "SELECT at, after FROM audit WHERE action = 'backup' ORDER BY id DESC LIMIT 1",
    );
    const asked = row && (JSON.parse(row.after) as { path: string; bytes: number });
    const own = this.#path === IN_MEMORY ? undefined : copiesOf(this.#path).at(-1);
    const { mtimeMs: at = 0, size: bytes = 0 } = own === undefined ? {} : statSync(own);
    if (row && asked && row.at >= at) return { at: row.at, place: asked.path, bytes: asked.bytes };
    return own === undefined ? undefined : { at: Math.round(at), place: own, bytes };
  }

  /** Writes a copy of the books, while calls run. @param path must not exist @throws Error with one sentence */
  async backup(path: string, actor: Actor): Promise<{ bytes: number }> {
    await this.#copy(path);
    const bytes = statSync(path).size;
    await this.#store.current.transaction((sql) =>
      writeAudit(sql, this.#now(), actor, "backup", "store", null, { path, bytes }),
    );
    return { bytes };
  }

  /** Checks the file, page by page. The audit checks what it contains. */
  async check(): Promise<AuditReport> {
    const sql = this.#slow ?? this.#store.current;
    const rows = await sql.all<Record<string, string>>("PRAGMA integrity_check(5)");
    const faults = rows.flatMap((row) => Object.values(row)).filter((text) => text !== "ok");
    const foreign = await sql.all("PRAGMA foreign_key_check");
    const checks = [
      { name: "the file is not damaged", holds: faults.length === 0, detail: faults[0] ?? "ok" },
      {
        name: "rows refer to rows that exist",
        holds: foreign.length === 0,
        detail: foreign.length === 0 ? "ok" : `${foreign.length} rows do not`,
      },
    ];
    return { holds: checks.every(({ holds }) => holds), checks };
  }

  /** Deletes what retention would delete, or the calls of a key. Sums stay. @param what with `dryRun` rows are only counted */
  async prune({ key, dryRun }: PruneRequest, actor: Actor): Promise<Pruned> {
    if (key === undefined && !this.#retention.keep)
      throw new AdminError(
        409,
        "not_running",
        "Only a gateway that runs knows how long its config keeps calls; start it, or name a key.",
      );
    if (dryRun && key === undefined) return this.#retention.due();
    if (dryRun) return (await countKey(this.#sql, key!, keptOf(this.#store.tables))).measured(this.#sql);
    const pause = () => Bun.sleep(PAUSE_MS);
    const pruned =
      key === undefined
        ? await this.#retention.all(pause)
        : await removeKey(this.#store.current, key, pause, this.#store.tables);
    await this.#store.current.transaction((sql) =>
      writeAudit(sql, this.#now(), actor, "prune", key === undefined ? "store" : `keys/${key}`, null, {
        rows: pruned.rows,
      }),
    );
    return pruned;
  }

  /** Opens keys and hard budgets again that are closed since the books were recovered. */
  release(actor: Actor): Promise<void> {
    return this.#store.release(actor);
  }

  openKeys(actor: Actor): Promise<void> {
    return this.#store.openKeys(actor);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#retention.stop();
    await this.#reader?.close();
    await this.#slow?.close();
  }

  get #sql(): Sql {
    return this.#reader ?? this.#store.current;
  }

  async #usedBytes(sql: Sql): Promise<number> {
    const value = async (pragma: string) => {
      const [row] = await sql.all<Record<string, number>>(`PRAGMA ${pragma}`);
      return Object.values(row ?? {})[0] ?? 0;
    };
    return ((await value("page_count")) - (await value("freelist_count"))) * (await value("page_size"));
  }

  async #copy(path: string): Promise<void> {
    if (existsSync(path)) throw new Error(`${path} exists`);
    const sql = this.#slow ?? this.#store.current;
    await sql.run(`VACUUM INTO '${path.replaceAll("'", "''")}'`);
    chmodSync(path, 0o600);
  }

  async #checkpoint(): Promise<void> {
    if (!this.#reader) return;
    const [row] = await this.#store.current.all<{ changes: number }>("SELECT total_changes() AS changes");
    if (row!.changes - this.#changes < CHANGES) return;
    this.#changes = row!.changes;
    await this.#reader.checkpoint();
  }

  /** Looks at each page of the file once after the start; the tables of keys and budgets were checked before it. */
  async #checkFile(): Promise<void> {
    if (!this.#slow) return;
    const rows = await this.#slow.all<Record<string, string>>("PRAGMA quick_check(1)");
    if (rows.some((row) => Object.values(row)[0] !== "ok")) await this.#store.recover();
  }

  /** A copy a day lies beside the file, for the case that it is damaged. */
  async #copyDaily(): Promise<void> {
    if (this.#path === IN_MEMORY) return;
    const copies = copiesOf(this.#path);
    const newest = copies.at(-1);
    if (newest !== undefined && this.#now() - statSync(newest).mtimeMs < DAY_MS) return;
    const day = new Date(this.#now()).toISOString().slice(0, 10);
    await this.#copy(`${this.#path}.copy-${day}`);
    for (const old of copiesOf(this.#path).slice(0, -COPIES)) rmSync(old, { force: true });
  }
}
