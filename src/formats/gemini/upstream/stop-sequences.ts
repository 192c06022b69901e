/** Stop sequences beyond those that Google takes. weir ends the answer itself where the model would have stopped. */
import type { CodecContext } from "../../../core/context.ts";
import { splitStop, type StopPlan, type StopWatcher, stopWatcherFor } from "../../shared/stop-watcher.ts";
import type { Traits } from "../../../core/provider.ts";

/** Google's limit. */
const MAX_STOP = 5;

export function planStop(stop: readonly string[], { maxStop = MAX_STOP }: Traits): StopPlan {
  return splitStop(stop, maxStop);
}

/** Returns a watcher for the sequences that the provider did not get; `undefined` if there are none. */
export function createStopWatcher(context: CodecContext): StopWatcher | undefined {
  return stopWatcherFor(context, (stop) => planStop(stop, context.target.traits));
}
