/** Facts of a call for rows and sentences, from its record. */
import type { State } from "../parts/icons.tsx";
import type { CallEntry } from "./types.ts";

type Attempt = CallEntry["attempts"][number];

/** The attempt whose answer the client got, or the last one. */
export function servedBy(call: CallEntry): Attempt | undefined {
  return call.attempts.at(-1);
}

/** `provider/model` of the last attempt; undefined if the call reached no provider. */
export function targetOf(call: CallEntry): string | undefined {
  const last = servedBy(call);
  return last && `${last.provider}/${last.model}`;
}

/** The model as the client named it is the one that served the call. */
export function isAsAsked(call: CallEntry): boolean {
  const last = servedBy(call);
  return !last || call.model === last.model || call.model === targetOf(call);
}

/** `anthropic, us`; the provider alone if its deployment has no name of its own. */
export function placeOf({ provider, deployment }: Pick<Attempt, "provider" | "deployment">): string {
  const isBelow = deployment.startsWith(provider) && /[/-]/.test(deployment.charAt(provider.length));
  const name = isBelow ? deployment.slice(provider.length + 1) : deployment;
  return name === "" || name === provider || name === "default" ? provider : `${provider}, ${name}`;
}

/** Sums of all attempts. Tokens. */
export interface Tokens {
  /** All input: fresh, read from and written to a cache. */
  input: number;
  cacheRead: number;
  output: number;
  reasoning: number;
}

export function tokensOf({ attempts }: CallEntry): Tokens {
  const sum = { input: 0, cacheRead: 0, output: 0, reasoning: 0 };
  for (const { usage } of attempts) {
    sum.input += usage.input + usage.cacheRead + usage.cacheWrite;
    sum.cacheRead += usage.cacheRead;
    sum.output += usage.output;
    sum.reasoning += usage.reasoning;
  }
  return sum;
}

export function costOf({ attempts }: CallEntry): number {
  return attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
}

/** From the least certain to the most certain. */
const DOUBTS = ["unpriced", "assumed", "estimated", "reported", "metered", "free"] as const;

/** The least certain state of all attempts; `unpriced` only if nothing of the call has a price. */
export function chargeStateOf(call: CallEntry): (typeof DOUBTS)[number] {
  const states = new Set(call.attempts.map(({ charge }) => charge.state));
  if (states.has("unpriced") && costOf(call) > 0) return "estimated";
  return DOUBTS.find((state) => states.has(state)) ?? "free";
}

/** Attempts that failed before the last one. */
export function failedTries({ attempts }: CallEntry): readonly Attempt[] {
  return attempts.slice(0, -1);
}

/** Tokens a second while the answer streamed. */
export function paceOf(call: CallEntry): number | undefined {
  const { output } = tokensOf(call);
  // A JSON answer arrives at once, however long the provider has written it.
  if (!call.stream || call.firstMs === undefined || output === 0) return undefined;
  // Of an answer that was left or broke the tokens are an upper bound.
  if (call.outcome !== "complete") return undefined;
  if (call.ms - call.firstMs < 1) return undefined;
  return output / ((call.ms - call.firstMs) / 1_000);
}

/** State and word of a row; a complete call is a grey status without a shape. */
export function verdictOf(call: CallEntry): { state?: State; word: string } {
  if (call.refused !== undefined) return { state: "warn", word: "refused" };
  if (call.outcome === "cancelled") return { state: "off", word: "left" };
  if (call.outcome === "failed")
    return { state: "bad", word: call.status < 400 ? "broke off" : String(call.status) };
  return { word: String(call.status) };
}

/** Why a rule of the gateway refused a call. */
export const REFUSED_BY: Readonly<Record<string, string>> = {
  rate: "the rate limit",
  tokens: "the limit of tokens",
  concurrency: "the limit of calls at the same time",
  budget: "an empty budget",
  scope: "what the key may do",
  price: "the missing price",
};

/** The meaning of a class of a failed attempt. */
export const CLASSES: Readonly<Record<string, string>> = {
  answered: "answered",
  "not-sent": "not sent",
  "no-bytes": "no answer",
  status: "an error status",
  never: "no retry helps",
  started: "broke off",
};
