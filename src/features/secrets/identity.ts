/** Who weir is at a store of a cloud: the same ways to sign in as for providers there. */
import type { Place } from "../../core/place.ts";
import { ask } from "./ask.ts";
import type { Environment } from "./store.ts";

/** Longest request for a token. Milliseconds. */
const TOKEN_MS = 5_000;

/** @param name of the store, for messages */
export function placeAt(
  name: string,
  env: Environment,
  variables: Readonly<Record<string, string>> = {},
): Place {
  return {
    ...{ name, variables, env },
    secret: (wanted) => env[wanted]?.trim() || undefined,
    conceal: () => {},
    kept: new Map(),
    fetch: (request) =>
      ask({ ...request, stop: AbortSignal.timeout(Math.min(request.timeoutMs ?? TOKEN_MS, TOKEN_MS)) }),
    now: () => Date.now(),
  };
}
