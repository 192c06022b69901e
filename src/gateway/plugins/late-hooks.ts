/** Which hook an answer waits for: its silence is not the provider's. */
import type { Call } from "../../core/call.ts";
import type { GatewayError } from "../../core/error.ts";
import type { Stoppable } from "../../core/stop.ts";

/** A hook that makes events of those of an answer. */
export interface EditingHook {
  /** weir waits for the next event of the hook, and the hook does not wait for one of the answer. */
  isLate(): boolean;
  /** The error of a call whose hook was not done in time. */
  failure(timeout: GatewayError): GatewayError;
}

/** The hooks that edit an answer, by what ends its attempt. */
const editing = new WeakMap<Stoppable, Set<EditingHook>>();

export function addEditing(stop: Stoppable, hook: EditingHook): void {
  const hooks = editing.get(stop);
  if (hooks) hooks.add(hook);
  else editing.set(stop, new Set([hook]));
}

export function removeEditing(stop: Stoppable, hook: EditingHook): void {
  editing.get(stop)?.delete(hook);
}

/** Whom a timeout in the middle of an answer is blamed on: the hook that weir waits for, if there is one. */
export function blame(timeout: GatewayError, { attempts }: Pick<Call, "attempts">): GatewayError {
  for (const { stop } of attempts)
    for (const hook of editing.get(stop) ?? []) if (hook.isLate()) return hook.failure(timeout);
  return timeout;
}
