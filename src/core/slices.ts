/** Long work of the process in slices, so that the event loop serves others in between. */

/** Work that may be interrupted wherever it yields. */
export type Sliced<Value> = Generator<void, Value, void>;

/** Longest time a slice takes, as far as the work yields often enough. Milliseconds. */
const SLICE_MS = 8;

/** Does the work without a pause. */
export function atOnce<Value>(work: Sliced<Value>): Value {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Does the work in slices of a few milliseconds, each in a turn of the event loop of its own. */
export async function inSlices<Value>(work: Sliced<Value>): Promise<Value> {
  let until = performance.now() + SLICE_MS;
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
}

/** Lets the event loop serve others first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
