/** Gives back the memory that only the start of a thread needed: its code, and what the heap holds beside what is used. */

/** Time after the start, and the time after it in which the process must be idle. Milliseconds. */
const WAIT_MS = 2_000;
const LOOK_MS = 1_000;
/** A process that takes more of the processor in {@link LOOK_MS} works. Microseconds. */
const BUSY_US = 50_000;

/**
 * Shrinks the heap of this thread once, soon after its start. Where the process works by then, nothing happens: the code that it
 * runs would have to be compiled anew.
 */
export function shrinkAfterStart(): void {
  setTimeout(() => {
    const before = process.cpuUsage();
    setTimeout(() => {
      const { user, system } = process.cpuUsage(before);
      if (user + system < BUSY_US) Bun.shrink();
    }, LOOK_MS).unref();
  }, WAIT_MS).unref();
}
