/** The state of a deployment in words: why it is skipped, and what ends it. */
import type { State } from "../../parts/icons.tsx";
import { whole } from "../../numbers/counts.ts";
import { clock, minute } from "../../numbers/times.ts";
import type { Breaker, DeploymentEntry } from "../../data/types.ts";

type Health = DeploymentEntry["state"];

/** Shape and word of each state. */
export const STATES: Readonly<Record<Health, { shape: State; word: string; card: string }>> = {
  "left-alone": { shape: "bad", word: "skipped", card: "open-breaker" },
  "on-trial": { shape: "warn", word: "being tried", card: "half" },
  healthy: { shape: "ok", word: "healthy", card: "" },
  "no-key": { shape: "off", word: "no key", card: "" },
};

const ORDER: readonly Health[] = ["left-alone", "on-trial", "healthy", "no-key"];

/** Trouble first, then the busiest. */
export function byTrouble(a: DeploymentEntry, b: DeploymentEntry): number {
  return ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.calls - a.calls || (a.name < b.name ? -1 : 1);
}

type Told = Pick<DeploymentEntry, "state" | "why" | "breakers" | "calls" | "keyVariable">;

/** One or two sentences. @param now milliseconds since 1970 */
export function sayState(
  { state, why, breakers, calls, keyVariable }: Told,
  now: number,
): string | undefined {
  const first = worst(breakers);
  if (state === "no-key") return why ?? (keyVariable ? `No key: ${keyVariable} is not set.` : "No key.");
  if (first && state !== "healthy") return sayBreaker(first, breakers.length, now);
  return calls === 0 ? "No call in this time." : undefined;
}

function worst(breakers: readonly Breaker[]): Breaker | undefined {
  return [...breakers].sort((a, b) => Number(a.state === "half-open") - Number(b.state === "half-open"))[0];
}

/** @param count breakers of the deployment that are not closed */
function sayBreaker(breaker: Breaker, count: number, now: number): string {
  const { model, workers } = breaker;
  const of = ` for ${model}${count > 1 ? ` and ${count - 1} more` : ""}`;
  const where = workers > 1 ? `, in ${workers} workers` : "";
  const next = breaker.state === "half-open" ? "If it is answered, all may come." : "Then one call tries it.";
  return `${sayOne(breaker, now)}${of}${where}. ${next}`;
}

/** `Skipped until 19:08 (401: the provider refused the credential)`. */
export function sayOne({ state, until, reason }: Breaker, now: number): string {
  const cause = reason === undefined ? "" : ` (${sayReason(reason)})`;
  if (state === "half-open") return `One call tries it${cause}`;
  if (until === undefined || until <= now) return `Skipped until the next call${cause}`;
  const at = until - now < 120_000 ? clock(until) : minute(until, now);
  return `Skipped until ${at}${cause}`;
}

const REASONS: Readonly<Record<string, string>> = {
  "401": "the provider refused the credential",
  "402": "the account has no funds",
  "403": "the provider refused the credential",
  "408": "the provider did not answer in time",
  "429": "a rate limit of the provider",
  "529": "the provider is overloaded",
  timeout: "the provider did not answer in time",
  refused: "no connection",
};

/** @param reason a status, `status 529`, or a word */
function sayReason(reason: string): string {
  const key = reason.replace("status ", "");
  const words = REASONS[key] ?? (/^5\d\d$/.test(key) ? "an error of the provider" : undefined);
  return words === undefined ? key : `${key}: ${words}`;
}

/** Figures of failures as the card groups them, with the filter of Calls for each. */
export interface Errors {
  name: string;
  calls: number;
  filter: Readonly<Record<string, string>>;
}

type Failed = Pick<DeploymentEntry, "name" | "errors">;

const GROUPS: readonly (readonly [name: string, group: Failed["errors"][number]["group"]])[] = [
  ["429", "429"],
  ["5xx", "5xx"],
  ["timeout, broken", "broken"],
  ["credential", "credential"],
  ["client's fault", "request"],
];

/** By what the provider answered. What the client's request is to blame for stands last, and is no failure of the provider. */
export function errorGroups({ name: deployment, errors }: Failed): Errors[] {
  return GROUPS.map(([name, group]) => ({
    name,
    calls: errors.reduce((sum, error) => sum + (error.group === group ? error.calls : 0), 0),
    filter: { tried: `${group}@${deployment}` },
  }));
}

/** `3 of 10`; a share of few is none. */
export function failedOf({ failed, looked }: Pick<DeploymentEntry, "failed" | "looked">): string {
  return `${whole(failed)} of ${whole(looked)}`;
}

/** `eu` of `anthropic/eu`; `default` of a provider with one deployment. */
export function deploymentName({ name }: Pick<DeploymentEntry, "name">, provider: string): string {
  return name === provider ? "default" : name.slice(provider.length + 1);
}

/** The next of 1, 2 and 5 times a power of ten. */
export function axisTop(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(most));
  return unit * [1, 2, 5, 10].find((times) => most <= times * unit)!;
}
