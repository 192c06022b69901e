/** Generates the events of a planned answer, with its delays and failures. */
import type { ChatEvent, Usage } from "weir";
import type { Plan } from "./answer.ts";
import type { Behaviour } from "./models.ts";
import { yieldToEventLoop, wait, waitForAbort } from "./wait.ts";

/** Number of tokens without a delay after which the mock yields to the event loop. */
const YIELD_AFTER = 64;

/** @throws the error of `breakOff`, or the reason of the signal if the call is aborted */
export async function* playAnswer(
  plan: Plan,
  usage: Usage,
  behaviour: Behaviour,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const total = plan.blocks.reduce((sum, block) => sum + block.pieces.length, 0);
  const breakAt = breakPoint(behaviour, total);
  let played = 0;
  let reasoning = 0;
  for (const [index, block] of plan.blocks.entries()) {
    yield { type: "block-start", index, block: block.start };
    for (const delta of block.pieces) {
      if (played === breakAt) await breakOff(behaviour, signal);
      await takeTime(behaviour.pace ?? 0, played, signal);
      played += 1;
      if (block.start.type === "reasoning") reasoning += 1;
      yield { type: "block-delta", index, delta };
    }
    yield { type: "block-end", index, signature: block.signature };
  }
  if (breakAt !== undefined) await breakOff(behaviour, signal);
  yield { type: "message-end", reason: plan.reason, usage: { ...usage, output: played, reasoning } };
}

function breakPoint({ breakOff }: Behaviour, total: number): number | undefined {
  return breakOff?.after === "half" ? Math.floor(total / 2) : breakOff?.after;
}

async function breakOff(behaviour: Behaviour, signal: AbortSignal): Promise<never> {
  if (behaviour.breakOff?.error) throw behaviour.breakOff.error;
  return waitForAbort(signal);
}

async function takeTime(pace: number, played: number, signal: AbortSignal): Promise<void> {
  if (pace > 0) await wait(pace, signal);
  else if (played % YIELD_AFTER === YIELD_AFTER - 1) await yieldToEventLoop(signal);
  else signal.throwIfAborted();
}
