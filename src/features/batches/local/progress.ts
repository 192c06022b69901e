/** How far a batch is, on standard error: a bar on a terminal, else a line every few seconds. */
import { formatNano, type Nano } from "../../../ledger/money.ts";
import { showCount } from "../../../cli/books/show.ts";

export interface Now {
  readonly lines: number;
  /** Lines that have ended, those that failed included. */
  readonly ended: number;
  readonly failed: number;
  readonly cost: Nano;
  /** The most that all lines can cost; undefined: it is not known. */
  readonly most?: Nano;
  /** Why it does not go on at the moment. */
  readonly paused?: string;
}

interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const BAR = 24;
/** Between two lines without a terminal. Milliseconds. */
const PLAIN_MS = 5_000;
const CLEAR_LINE = "\r\u001b[K";

export class ProgressLine {
  readonly #screen: Screen;
  readonly #clock: () => number;
  #first: { at: number; ended: number } | undefined;
  #written = -Infinity;
  #isShown = false;

  /** @param clock milliseconds */
  constructor(screen: Screen = process.stderr, clock: () => number = () => performance.now()) {
    this.#screen = screen;
    this.#clock = clock;
  }

  show(now: Now): void {
    const at = this.#clock();
    // Lines that ended before this start say nothing of its speed.
    this.#first ??= { at, ended: now.ended };
    const seconds = (at - this.#first.at) / 1_000;
    const words = progressText(now, seconds > 0 ? (now.ended - this.#first.ended) / seconds : 0);
    if (this.#screen.isTTY === true) {
      this.#isShown = true;
      this.#screen.write(`${CLEAR_LINE}${barOf(now)} ${words}`);
    } else if (at - this.#written >= PLAIN_MS) {
      this.#written = at;
      this.#screen.write(`weir: ${words}\n`);
    }
  }

  /** Other text may follow. */
  clear(): void {
    if (this.#isShown) this.#screen.write(CLEAR_LINE);
    this.#isShown = false;
  }
}

function barOf({ ended, lines }: Now): string {
  const full = lines === 0 ? 0 : Math.floor((ended / lines) * BAR);
  return `[${"#".repeat(full)}${" ".repeat(BAR - full)}]`;
}

/** `40 of 50 lines, 2 failed, $0.12 of at most $0.50, 3.1 lines/s, 4 s left`. @param speed lines a second */
export function progressText({ lines, ended, failed, cost, most, paused }: Now, speed: number): string {
  if (lines === 0) return "the input is being checked";
  const spent = most === undefined ? formatNano(cost) : `${formatNano(cost)} of at most ${formatNano(most)}`;
  return [
    `${showCount(ended)} of ${showCount(lines)} lines`,
    ...(failed > 0 ? [`${showCount(failed)} failed`] : []),
    spent,
    ...(speed > 0 ? [`${speed.toFixed(1)} lines/s`] : []),
    ...(speed > 0 && ended < lines ? [`${showLeft((lines - ended) / speed)} left`] : []),
    ...(paused === undefined ? [] : [`paused: ${paused}`]),
  ].join(", ");
}

function showLeft(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
