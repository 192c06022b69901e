/** The behaviour of the mock's models at what is no request for text: the models that fail, fail there, too. */
import type { CallView } from "weir";
import { failToServe } from "./faults.ts";
import { type Behaviour, findBehaviour } from "./models.ts";
import { wait, waitForAbort } from "./wait.ts";

/**
 * Waits and fails as the model does.
 * @param only what the model has to be for, unless it only answers late
 * @param lacks the end of the sentence for another one: "This model of the mock …"
 */
export async function behaveFor(
  only: NonNullable<Behaviour["only"]>,
  lacks: string,
  model: string,
  call: CallView,
): Promise<void> {
  const behaviour = findBehaviour(model);
  if (behaviour.silent) await waitForAbort(call.signal);
  if (behaviour.startAfter) await wait(behaviour.startAfter, call.signal);
  if (behaviour.only === only) return;
  if (behaviour.fail) throw behaviour.fail;
  if (!behaviour.startAfter) throw failToServe(lacks);
}
