/** Shows on a terminal that a long request is still running. */

const FIRST_MS = 700;
const EACH_MS = 250;
/** Between two questions how much is done. */
const ASK_MS = 1_000;
const CLEAR_LINE = "\r\u001b[K";

/** How much of the work is done, from 0 to 1; undefined while it is not known. */
export type Share = () => Promise<number | undefined>;

/** Where the line is written. */
interface Screen {
  isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Runs work, and writes a line with the elapsed time, and the percentage if it is known, to standard error while it takes long.
 * Nothing without a terminal.
 */
export async function withProgress<Value>(
  what: string,
  work: Promise<Value>,
  share?: Share,
  screen: Screen = process.stderr,
): Promise<Value> {
  if (!screen.isTTY) return work;
  const began = performance.now();
  let shown = false;
  let askedAt = -Infinity;
  let percent = "";
  const ask = async (ms: number) => {
    askedAt = Infinity;
    const done = await share?.().catch(() => undefined);
    // Work that has not ended is never shown as if it had.
    if (done !== undefined) percent = `${Math.floor(Math.min(0.99, Math.max(0, done)) * 100)} %, `;
    askedAt = ms;
  };
  const timer = setInterval(() => {
    const ms = performance.now() - began;
    if (ms < FIRST_MS) return;
    shown = true;
    if (ms - askedAt >= ASK_MS) void ask(ms);
    screen.write(`${CLEAR_LINE}${what} (${percent}${Math.floor(ms / 1_000)} s)`);
  }, EACH_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (shown) screen.write(CLEAR_LINE);
  }
}
