/** How the error of a year is divided among all comparisons that can be made in it. */
import { GROUPS } from "../questions.ts";
import { SHARES } from "../stats/series.ts";
import { windowsPerYear } from "../stats/windows.ts";
import { EXACT } from "./exact.ts";

/** The most false alarms a year, over all models and tests together. */
export const ERROR_PER_YEAR = 0.01;

/** Shortest windows. Answers vary, so few of them prove nothing; of speeds a step is a part of a day. */
export const LEAST_EXACT = 2;
export const LEAST_ANSWERS = 6;
export const LEAST_SPEED = 4;

/** A block of looks of which the speed is one value: load comes and goes within hours. Milliseconds. */
export const BLOCK_MS = 21_600_000;

/** Speeds that are compared. */
export const SPEEDS = ["firstByteMs", "perSecond"] as const;

const DIRECTIONS = 2;

export interface Limits {
  /** Logarithms of the probability from which on one comparison is an alarm. */
  readonly exact: number;
  /** By group of questions. */
  readonly answers: ReadonlyMap<string, number>;
  readonly speed: number;
}

/** @param models number of models @param everyMs milliseconds between two looks */
export function limitsOf(models: number, everyMs: number): Limits {
  // Answers are one test of a model, however many groups of questions there are.
  const tests = EXACT.length + 1 + SPEEDS.length;
  const each = ERROR_PER_YEAR / (models * tests);
  const answers = each / windowsPerYear(everyMs, LEAST_ANSWERS) / GROUPS.length;
  const blocks = windowsPerYear(Math.max(everyMs, BLOCK_MS), LEAST_SPEED);
  return {
    exact: Math.log(each / windowsPerYear(everyMs, LEAST_EXACT) / DIRECTIONS),
    answers: new Map(GROUPS.map(({ name, size }) => [name, Math.log(answers / (size * DIRECTIONS))])),
    speed: Math.log(each / blocks / (SHARES.length * DIRECTIONS)),
  };
}
