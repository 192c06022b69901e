/** Runs long work in slices, so that the event loop can handle other calls in between. */

/** Work that can be interrupted at each yield. */
export type Sliced<Value> = Generator<void, Value, void>;

/** Maximum duration of a slice, provided that the work yields often enough. Milliseconds. */
const SLICE_MS = 8;

/** Runs the work without interruption. */
export function atOnce<Value>(work: Sliced<Value>): Value {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs the work in slices of a few milliseconds, each in its own turn of the event loop. */
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

/** Waits until the event loop has handled other work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
