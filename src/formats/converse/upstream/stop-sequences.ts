/** Stop sequences that the provider takes; weir ends the answer itself at the others. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { Traits } from "../../../core/provider.ts";
import { StopWatcher } from "../../shared/stop-watcher.ts";
import { type ModelFacts, modelFacts } from "../models.ts";

interface StopPlan {
  sent: string[];
  /** weir searches the answer for these. */
  watched: string[];
}

/** Splits the sequences. Claude refuses blank ones, so weir watches for them too. */
export function splitStop({ stop }: ChatRequest, facts: ModelFacts, traits: Traits): StopPlan {
  const sequences = stop.filter((sequence) => sequence !== "");
  const takes = (sequence: string) => !facts.claude || sequence.trim() !== "";
  const sent = sequences.filter(takes).slice(0, traits.maxStop ?? facts.maxStop);
  return { sent, watched: sequences.filter((sequence) => !sent.includes(sequence)) };
}

/** Returns a watcher for the sequences that the provider did not get; `undefined` if there are none. */
export function createStopWatcher({ request, target }: CodecContext): StopWatcher | undefined {
  if (!request || request.stop.length === 0) return undefined;
  const { watched } = splitStop(request, modelFacts(target.model), target.traits);
  return watched.length === 0 ? undefined : new StopWatcher(watched);
}
