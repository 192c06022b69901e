/** Waits for something that a client may stop waiting for. */
import type { Stoppable } from "../../core/stop.ts";

/** @returns undefined if the call was stopped before */
export async function unlessStopped<Value>(
  promise: Promise<Value>,
  stop: Stoppable,
): Promise<Value | undefined> {
  if (stop.aborted) return undefined;
  const stopped = Promise.withResolvers<undefined>();
  const onStop = () => stopped.resolve(undefined);
  stop.addEventListener("abort", onStop);
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}
