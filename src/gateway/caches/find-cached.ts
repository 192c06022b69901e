/** Finds the cached content that a request names, before its first attempt. */
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Plan } from "../routing/plan.ts";
import { refusesUnknown } from "../stored/foreign.ts";
import type { Gateway, Incoming } from "../types.ts";
import { findKept, type Kept, narrowTo, notKept } from "./kept.ts";
import type { CachedPrompt } from "./types.ts";

type Source = Pick<Incoming, "call" | "format" | "bytes" | "spanOf">;

/**
 * @param body the request, where the body has it in a member; default: the body
 * @returns undefined at once for a request that names none
 * @throws GatewayError `not-found` for one that is unknown or belongs to another key
 */
export function findCached(
  source: Source,
  context: Pick<Gateway, "answers" | "answerOptions">,
  body?: JsonObject,
): Promise<CachedPrompt> | undefined {
  const name = body ? nameOf(body, source) : nameIn(source);
  return name === undefined ? undefined : find(name, source, context);
}

async function find(
  name: string,
  { call, format }: Source,
  context: Pick<Gateway, "answers" | "answerOptions">,
): Promise<CachedPrompt> {
  const [param] = format.client.beside.cached!;
  const kept = await findKept(name, call, context);
  if (kept) return { tokens: tokensOf(kept), narrow: (plan) => narrowTo(kept, plan, param) };
  if (refusesUnknown(call, context.answerOptions)) throw notKept(name);
  // The name is one of the provider's account: another format could not carry it.
  return { tokens: 0, narrow: (plan) => only(plan, format.id) };
}

/** Tokens that are kept, as the provider counted them. */
export function tokensOf({ facts: { usageMetadata } }: Pick<Kept, "facts">): number {
  const count = isObject(usageMetadata) ? usageMetadata["totalTokenCount"] : undefined;
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** Its own targets, or the plan as it is: hosts of other formats refuse the request by themselves. */
function only(plan: Plan, format: string): Plan {
  const choices = plan.choices.filter(({ target }) => target.format === format);
  return choices.length > 0 ? { choices, fallbacks: [], larger: [] } : plan;
}

function nameOf(body: JsonObject, { format }: Source): string | undefined {
  const named = (format.client.beside.cached ?? []).map((member) => body[member]);
  return named.find((name) => typeof name === "string" && name !== "") as string | undefined;
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
