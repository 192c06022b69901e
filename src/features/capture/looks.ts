/** Captured calls for the admin API. Each look is in the audit log. */
import { AdminError } from "../../operator/errors.ts";
import type { Format } from "../../core/format.ts";
import { Slot } from "../../core/slot.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import type { Actor } from "../../keeper/store/store.ts";
import type { KeptBodies, KeptBody } from "../../admin/kept-bodies.ts";
import { spokenIn } from "../../gateway/recording/talk.ts";
import type { Talk } from "../../operator/talk.ts";
import type { Frozen } from "../../operator/contract.ts";
import type { CapturedCall } from "./contracts.ts";
import type { Captures } from "./captures.ts";

/** What the part in the keeper offers to the operations. */
export const looks = new Slot<Looks>();

export class Looks implements KeptBodies {
  readonly #captures: Captures;
  readonly #note: KeeperHost["note"];

  /** @param note adds an entry to the audit log */
  constructor(captures: Captures, note: KeeperHost["note"]) {
    this.#captures = captures;
    this.#note = note;
  }

  has(id: string): boolean {
    try {
      return this.#captures.get(id) !== undefined;
    } catch {
      return false;
    }
  }

  /** @throws AdminError 503 */
  async read(id: string, actor: Actor): Promise<Frozen<CapturedCall> | undefined> {
    const captured = orFault(() => this.#captures.get(id));
    if (!captured) return undefined;
    await this.#note(actor, "look", `calls/${id}/body`);
    const formats = await allFormats();
    const { wire } = captured;
    const said =
      wire?.answer && spokenIn({ id, format: wire.format, request: "", answer: wire.answer }, formats);
    return {
      ...captured,
      ...(wire && { wire: { ...wire, ...(said && { said: said.answer }) } }),
      talk: spokenIn(captured, formats),
    };
  }

  async talk(id: string): Promise<Talk | undefined> {
    const captured = orFault(() => this.#captures.get(id));
    return captured && spokenIn(captured, await allFormats());
  }

  body(id: string): KeptBody | undefined {
    return orFault(() => this.#captures.get(id));
  }

  /** @param dryRun nothing is deleted @returns how many there are, or were @throws AdminError 503 */
  async deleteAll(actor: Actor, dryRun: boolean): Promise<{ rows: number; bytes: number }> {
    const known = orFault(() => this.#captures.size());
    if (dryRun) return known;
    const rows = orFault(() => this.#captures.deleteAll());
    await this.#note(actor, "prune", "captures", { rows });
    return { rows, bytes: known.bytes };
  }
}

let formats: Promise<ReadonlyMap<string, Format>> | undefined;

/** The keeper has the code of formats only once somebody looks at a body. */
function allFormats(): Promise<ReadonlyMap<string, Format>> {
  return (formats ??= import("../../run/formats.ts").then(
    ({ builtInFormats }) =>
      new Map(builtInFormats({ systemTurns: "accept" }).map((format) => [format.id, format])),
  ));
}

/** @throws AdminError 503 if the file cannot be used */
function orFault<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    const sentence = cause instanceof Error ? cause.message : String(cause);
    throw new AdminError(503, "store_failed", `The captured calls cannot be used: ${sentence}.`);
  }
}
