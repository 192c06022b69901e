/** Programs of plugins that answer requests of a kind. */
import type { Attempt } from "../../core/call.ts";
import { servedKind } from "../../core/does.ts";
import { isObject } from "../../core/json.ts";
import type { KindAnswer, KindRequest } from "../../core/kind.ts";
import type { Provider } from "../../core/provider.ts";
import { viewOf } from "./call-view.ts";
import { areUnits } from "./event-rules.ts";
import { type Failure, pluginFailure, wrapHook } from "./sandbox.ts";

/** The answer of a provider that is a program. @throws GatewayError for a failure of the plugin, or an invalid answer */
export function performedBy(
  provider: Provider,
  kind: string,
  request: KindRequest,
  attempt: Attempt,
): KindAnswer | Promise<KindAnswer> {
  const run = servedKind(provider.does, kind);
  if (typeof run !== "function") throw new Error(`the provider ${provider.name} is no program for ${kind}`);
  const view = viewOf(attempt);
  const failure: Failure = (cause) => pluginFailure(`provider ${provider.name} failed`, cause);
  return wrapHook(
    () => run(request, view),
    view,
    failure,
    (answer) => {
      if (!isObject(answer)) throw new Error(`${kind} must return an object`);
      if (answer.usage !== undefined) checkUsage(answer.usage, kind);
    },
  );
}

const COUNTS = ["input", "cacheRead", "cacheWrite", "output", "reasoning", "reported"] as const;

/** A wrong count would be a wrong charge. */
function checkUsage(usage: unknown, kind: string): void {
  if (!isObject(usage)) throw new Error(`the usage of ${kind} must be an object`);
  for (const name of COUNTS) {
    const count = usage[name];
    if (count !== undefined && !(Number.isSafeInteger(count) && Number(count) >= 0))
      throw new Error(`usage.${name} of ${kind} must be a whole number from 0 on`);
  }
  if (usage["units"] !== undefined && !areUnits(usage["units"]))
    throw new Error(`usage.units of ${kind} must be whole numbers from 0 on`);
}
