/** Words and values of the commands of runs. */
import type { Word } from "../../cli/command.ts";

/** A tape: its file, or the id of a run in the state folder. */
export const RUN: Word = { name: "RUN", completes: "file" };

/** Which tools run behind the fork. */
export const RULES = ["tape", "readonly", "live"] as const;
export type Rule = (typeof RULES)[number];
