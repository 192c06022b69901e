/**
 * Stop sequences that weir cannot send: more than the provider takes, or any for a model that refuses the field. weir ends
 * the answer itself at the place where the model would have stopped.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { Traits } from "../../../core/provider.ts";
import { splitStop, type StopPlan, type StopWatcher, stopWatcherFor } from "../../shared/stop-watcher.ts";
import { type ModelFacts, modelFacts } from "../../shared/openai-models.ts";

/** OpenAI's limit. */
const MAX_STOP = 4;

/** Splits the sequences into those that the provider gets and those that weir watches for. */
export function planStop(
  stop: readonly string[],
  { traits, facts }: { traits: Traits; facts: ModelFacts | undefined },
): StopPlan {
  return splitStop(stop, facts?.stop === false ? 0 : (traits.maxStop ?? MAX_STOP));
}

/** Returns a watcher for the sequences that the provider did not get; `undefined` if there are none. */
export function createStopWatcher(context: CodecContext): StopWatcher | undefined {
  const { traits, model } = context.target;
  return stopWatcherFor(context, (stop) => planStop(stop, { traits, facts: modelFacts(model) }));
}
