/** Health checks of processes at intervals. */

/** Interval. Milliseconds. */
const LOOK_MS = 500;
/** A check that runs this much late means that this process itself was paused. Milliseconds. */
const STOOD_STILL_MS = 2_000;

/** @param look called at each interval; does not keep the process alive @returns ends it */
export function watchPauses(look: (wasPaused: boolean) => void): () => void {
  let due = performance.now() + LOOK_MS;
  const timer = setInterval(() => {
    const late = performance.now() - due;
    due = performance.now() + LOOK_MS;
    look(late > STOOD_STILL_MS);
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
