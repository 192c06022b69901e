/** Stop sequences that the provider takes; weir ends the answer itself at the others. */
import type { CodecContext } from "../../../core/context.ts";
import type { Traits } from "../../../core/provider.ts";
import { type StopPlan, type StopWatcher, stopWatcherFor } from "../../shared/stop-watcher.ts";
import { type ModelFacts, modelFacts } from "../models.ts";

/** Splits the sequences. Claude refuses blank ones, so weir watches for them too. */
export function planStop(stop: readonly string[], facts: ModelFacts, traits: Traits): StopPlan {
  const sequences = stop.filter((sequence) => sequence !== "");
  const takes = (sequence: string) => !facts.claude || sequence.trim() !== "";
  const sent = sequences.filter(takes).slice(0, traits.maxStop ?? facts.maxStop);
  return { sent, watched: sequences.filter((sequence) => !sent.includes(sequence)) };
}

/** Returns a watcher for the sequences that the provider did not get; `undefined` if there are none. */
export function createStopWatcher(context: CodecContext): StopWatcher | undefined {
  const { model, traits } = context.target;
  return stopWatcherFor(context, (stop) => planStop(stop, modelFacts(model), traits));
}
