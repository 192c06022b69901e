/** The behaviour of the mock's models at what is no request for text: the models that fail, fail there, too. */
import type { CallView } from "weir";
import { findBehaviour } from "./models.ts";
import { wait, waitForAbort } from "./wait.ts";

/** Waits and fails as the model does. */
export async function behaveFor(model: string, call: CallView): Promise<void> {
  const behaviour = findBehaviour(model);
  if (behaviour.silent) await waitForAbort(call.signal);
  if (behaviour.startAfter) await wait(behaviour.startAfter, call.signal);
  if (behaviour.fail) throw behaviour.fail;
}
