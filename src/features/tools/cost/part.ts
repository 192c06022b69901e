/** What `tools.cost` adds to the gateway: the sizes of tools are noted while providers work, and calls when answers end. */
import type { Recorder } from "../../../core/column.ts";
import type { Around, Seams } from "../../../gateway/seams.ts";
import { watched } from "./answers.ts";
import { observe, ToolNotes } from "./note.ts";

export class CostPart {
  readonly #notes = new ToolNotes();

  /** @param seams of the gateway that runs tools; absent while the config has no servers */
  around(seams: Seams = {}): Seams {
    const inner = seams.around?.run;
    const run: Around = async (entry, next) => watched(entry, await (inner ? inner(entry, next) : next()));
    return {
      ...seams,
      around: { at: "loop", run },
      hooks: { ...seams.hooks, observe },
      sent: (attempt, incoming) => this.#notes.sent(attempt, incoming),
    };
  }

  readonly recorder: Recorder = (call, attempts) => this.#notes.record(call, attempts);
}
