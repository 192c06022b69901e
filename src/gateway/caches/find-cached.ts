/** Finds the cached content that a request names, before its first attempt. */
import { GatewayError } from "../../core/error.ts";
import { isObject } from "../../core/json.ts";
import type { Target } from "../../core/provider.ts";
import type { Plan } from "../routing/plan.ts";
import { refusesUnknown } from "../stored/foreign.ts";
import type { Gateway, Incoming } from "../types.ts";
import { findKept, type Kept, narrowTo, notKept } from "./kept.ts";

/** The cached content of a call. */
export interface CachedPrompt {
  /** Tokens of it: the request has them beside its own. */
  readonly tokens: number;
  /** The part of a plan that may serve the call. @throws GatewayError if no target of it has the content */
  narrow(plan: Plan): Plan;
}

type Source = Pick<Incoming, "call" | "format" | "bytes" | "spanOf">;

/**
 * @returns undefined at once for a request that names none
 * @throws GatewayError `not-found` for one that is unknown or belongs to another key
 */
export function findCached(
  source: Source,
  context: Pick<Gateway, "answers" | "answerOptions">,
): Promise<CachedPrompt> | undefined {
  const name = nameIn(source);
  return name === undefined ? undefined : find(name, source, context);
}

async function find(
  name: string,
  { call, format }: Source,
  context: Pick<Gateway, "answers" | "answerOptions">,
): Promise<CachedPrompt> {
  const kept = await findKept(name, call, context);
  if (kept) return { tokens: tokensOf(kept), narrow: (plan) => narrowTo(kept, plan) };
  if (refusesUnknown(call, context.answerOptions)) throw notKept(name);
  // The name is one of the provider's account: another format could not carry it.
  return { tokens: 0, narrow: (plan) => only(plan, ({ format: id }) => id === format.id, name) };
}

/** Tokens that are kept, as the provider counted them. */
export function tokensOf({ facts: { usageMetadata } }: Pick<Kept, "facts">): number {
  const count = isObject(usageMetadata) ? usageMetadata["totalTokenCount"] : undefined;
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
}

function only(plan: Plan, serves: (target: Target) => boolean, name: string): Plan {
  const choices = plan.choices.filter(({ target }) => serves(target));
  if (choices.length > 0) return { choices, fallbacks: [], larger: [] };
  throw new GatewayError(
    "invalid-request",
    `The model of this request is served by no provider that knows \`${name.slice(0, 200)}\`.`,
    { code: "cached_content_elsewhere", param: "model", shouldRetry: false },
  );
}

function nameIn({ format, bytes, spanOf }: Source): string | undefined {
  for (const member of format.client.beside.cached ?? []) {
    const span = spanOf(member);
    if (!span) continue;
    const value: unknown = JSON.parse(Buffer.from(bytes.subarray(span.start, span.end)).toString());
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
