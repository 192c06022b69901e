/** Shows on a terminal that a long request is still running. */

const FIRST_MS = 700;
const EACH_MS = 250;
const CLEAR_LINE = "\r\u001b[K";

/** Runs work, and writes a line with the elapsed time to standard error while it takes long. Nothing without a terminal. */
export async function withProgress<Value>(what: string, work: Promise<Value>): Promise<Value> {
  if (!process.stderr.isTTY) return work;
  const began = performance.now();
  let shown = false;
  const timer = setInterval(() => {
    const ms = performance.now() - began;
    if (ms < FIRST_MS) return;
    shown = true;
    process.stderr.write(`${CLEAR_LINE}${what} (${Math.floor(ms / 1_000)} s)`);
  }, EACH_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (shown) process.stderr.write(CLEAR_LINE);
  }
}
