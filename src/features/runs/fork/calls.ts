/** The calls of models of a fork: from the tape, and then by another model. */
import { toolScreen } from "../../../core/tool-screen.ts";
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import type { CallTape } from "../../../gateway/tape.ts";
import type { Player } from "../../../tapes/player.ts";
import type { Rule } from "../flags.ts";
import type { Forking } from "./forking.ts";
import { screenFor } from "./screen.ts";

/** Operations whose model the fork chooses. */
const CHOSEN: readonly string[] = ["generate", "count", "compact"];

export interface ForkedCallsOptions {
  readonly forking: Forking;
  readonly player: Player;
  readonly recorder: CallTape;
  readonly model: string;
  readonly rule: Rule;
  number(): number;
  /** Takes an entry that answered from the tape. */
  write(entry: TapeEntry): void;
}

export class ForkedCalls implements CallTape {
  readonly #options: ForkedCallsOptions;

  constructor(options: ForkedCallsOptions) {
    this.#options = options;
  }

  readonly take: CallTape["take"] = async (taped, open) => {
    const { forking, player, recorder, model, rule, number, write } = this.#options;
    const { call, operation } = taped;
    if (operation === "stored") return forking.isForked ? open() : player.take(taped);
    const { read, wanted } = player.read(taped);
    const found = forking.call(wanted);
    if (found.kind === "missed") throw player.miss(wanted);
    if ("entry" in found) {
      write({ ...found.entry, call: number(), taped: found.entry.call });
      return player.answer(found.entry, taped, read);
    }
    // Also the calls that weir makes for this one. What a guard permits stays as it is.
    if (CHOSEN.includes(operation)) call.confinement ??= { model, by: "fork", allows: () => true };
    toolScreen.set(call, screenFor(rule, toolScreen.get(call)));
    return recorder.take(taped, open);
  };
}
