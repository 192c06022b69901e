/** The state of a deployment in words: why it is left alone, since when, and what ends it. */
import type { State } from "../../parts/icons.tsx";
import { age } from "../../numbers/durations.ts";
import { moment } from "../../numbers/times.ts";
import type { Breaker, DeploymentEntry } from "../../data/types.ts";

type Health = DeploymentEntry["state"];

/** Shape and word of each state. */
export const STATES: Readonly<Record<Health, { shape: State; word: string; card: string }>> = {
  "left-alone": { shape: "bad", word: "left alone", card: "open-breaker" },
  "on-trial": { shape: "warn", word: "on trial", card: "half" },
  healthy: { shape: "ok", word: "healthy", card: "" },
  "no-key": { shape: "off", word: "no key", card: "" },
};

const ORDER: readonly Health[] = ["left-alone", "on-trial", "healthy", "no-key"];

/** Trouble first, then the busiest. */
export function byTrouble(a: DeploymentEntry, b: DeploymentEntry): number {
  return ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.calls - a.calls || (a.name < b.name ? -1 : 1);
}

type Told = Pick<DeploymentEntry, "state" | "why" | "breakers" | "calls" | "failed" | "keyVariable">;

/** One to three sentences. @param now milliseconds since 1970 */
export function sayState({ state, why, breakers, calls, failed, keyVariable }: Told, now: number): string {
  const first = worst(breakers);
  if (state === "no-key") return why ?? (keyVariable ? `No key: ${keyVariable} is not set.` : "No key.");
  if (first && state !== "healthy") return sayBreaker(first, breakers.length, now);
  if (calls === 0) return "No call in this time.";
  return failed === 0
    ? "No attempt failed in this time."
    : `${failed} of ${calls} attempts failed in this time.`;
}

function worst(breakers: readonly Breaker[]): Breaker | undefined {
  return [...breakers].sort((a, b) => Number(a.state === "half-open") - Number(b.state === "half-open"))[0];
}

/** @param count breakers of the deployment that are not closed */
function sayBreaker(
  { model, state, since, until, reason, workers }: Breaker,
  count: number,
  now: number,
): string {
  const from = since === undefined ? "" : ` since ${moment(since, now)}`;
  const of = ` for ${model}${count > 1 ? ` and ${count - 1} more` : ""}`;
  const cause = reason === undefined ? "" : `: ${reason}`;
  const where = workers > 1 ? `, in ${workers} workers` : "";
  if (state === "half-open")
    return `On trial${from}${of}${where}: one call tries it. If it is answered, all may come.`;
  const end =
    until === undefined
      ? ""
      : ` ${until > now ? `Tried again in ${age(until - now)}` : "Tried again with the next call"}, by one call.`;
  const start = state === "paused" ? "Asked for rest" : "Left alone";
  return `${start}${from}${of}${where}${cause}.${end}`;
}

/** Figures of failures as the card groups them, with the filter of Calls for each. */
export interface Errors {
  name: string;
  calls: number;
  filter: Readonly<Record<string, string>>;
}

const CREDENTIAL: ReadonlySet<number> = new Set([401, 402, 403]);

/** By what the provider answered. What the client's request is to blame for stands last, and is no failure of the provider. */
export function errorGroups(errors: DeploymentEntry["errors"]): Errors[] {
  const groups: readonly (readonly [string, (status: number) => boolean, Errors["filter"]])[] = [
    ["429", (status) => status === 429, { tried: "429" }],
    ["5xx", (status) => status >= 500, { tried: "5xx" }],
    ["no answer, or broken", (status) => status < 400, { tried: "broken" }],
    ["credential", (status) => CREDENTIAL.has(status), { tried: "credential" }],
    ["client's fault", () => true, { tried: "request" }],
  ];
  const counts = groups.map(() => 0);
  for (const { status = 0, calls } of errors) counts[groups.findIndex(([, has]) => has(status))]! += calls;
  return groups.map(([name, , filter], at) => ({ name, calls: counts[at]!, filter }));
}

/** `eu` of `anthropic/eu`; `default` of a provider with one deployment. */
export function deploymentName({ name }: Pick<DeploymentEntry, "name">, provider: string): string {
  return name === provider ? "default" : name.slice(provider.length + 1);
}
