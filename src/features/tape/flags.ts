/** Words and values of the commands of tapes. */
import type { Word } from "../../cli/command.ts";

export const TAPE_FILE: Word = { name: "FILE", completes: "file" };

/** Whether a replayed answer comes at once, or takes as long as it took. */
export const TIMINGS = ["cut", "kept"];
