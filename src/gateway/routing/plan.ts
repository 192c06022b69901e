/** The deployments that can serve a model, by priority and weight, and the fallback models. */
import type { Hooks } from "../../core/plugin.ts";
import type { Target } from "../../core/provider.ts";
import type { Strategy } from "../../core/settings.ts";
import { usualLane } from "../plugins/edits-calls.ts";

/** One deployment that can serve the model. */
export interface Choice {
  target: Target;
  weight: number;
  /** The priority of the route, then that of the deployment; compared in this order, the lower number first. */
  priority: readonly [number, number];
  /** The routing strategy within a priority; absent: weight. */
  by?: Exclude<Strategy, "weight">;
  /** The name of the fallback model in the config; absent for the model itself. */
  fallback?: string;
}

export interface Plan {
  /** Never empty. */
  choices: readonly Choice[];
  /** The fallback models in order, each with its deployments. */
  fallbacks: readonly (readonly Choice[])[];
  /** The same for fallbacks with `when: too-long`: models for prompts that do not fit. */
  larger: readonly (readonly Choice[])[];
}

/** The choice of a plan that has only one and no fallback. */
export function onlyChoice({ choices, fallbacks }: Plan): Choice | undefined {
  return choices.length === 1 && fallbacks.length === 0 ? choices[0] : undefined;
}

/** Whether something else than weight decides between choices of the plan. */
export function isRanked({ choices, fallbacks, larger }: Plan): boolean {
  return [choices, ...fallbacks, ...larger].some((group) => group.some(({ by }) => by !== undefined));
}

/** Where a choice is among those of its priority: figures that are compared in order, the lower first. */
export type Standing = (choice: Choice) => readonly number[];

/**
 * Sorts the choices into the order of attempts. Choices of equal priority and standing share traffic by weight, and the same
 * affinity key selects the same choice: weighted rendezvous hashing, so that the removal of a deployment moves only its own
 * share.
 * @param standing absent: all are equal
 */
export function rank(
  choices: readonly Choice[],
  affinity: () => string,
  standing: Standing = () => [],
): readonly Choice[] {
  if (choices.length === 1) return choices;
  const key = affinity();
  const scored = choices.map((choice) => ({
    choice,
    standing: standing(choice),
    score: score(choice, key),
  }));
  scored.sort(
    (a, b) => byPriority(a.choice, b.choice) || byStanding(a.standing, b.standing) || b.score - a.score,
  );
  return scored.map(({ choice }) => choice);
}

function byPriority({ priority: a }: Choice, { priority: b }: Choice): number {
  return a[0] - b[0] || a[1] - b[1];
}

function byStanding(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((figure, index) => figure !== b[index]);
  // Infinity less Infinity is no number, so the figures are compared.
  return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1;
}

function score({ target, weight }: Choice, key: string): number {
  const hash = Bun.hash.murmur32v3(`${target.deployment.name} ${target.model}\n${key}`);
  // Between 0 and 1, exclusive: the logarithm must be finite and not zero.
  const share = (hash + 0.5) / 2 ** 32;
  return weight / -Math.log(share);
}

/** One line of a plan in `weir models NAME` and `explain`. */
export interface PlannedTarget {
  deployment: string;
  model: string;
  lane: string;
  /** URL of the endpoint; empty for a provider that is a program. */
  url: string;
  /** `target`: the model itself. `fallback`: tried when all targets failed. `larger`: tried when the prompt does not fit. */
  role: "target" | "fallback" | "larger";
  weight: number;
  priority: string;
  reason: string;
}

/** A plan as a list, sorted by role, then priority, then weight. @param hooks of all plugins, which decide about lanes; none for embeddings */
export function describePlan(
  { choices, fallbacks, larger }: Plan,
  hooks: readonly Hooks[] = [],
): PlannedTarget[] {
  const describe = (role: PlannedTarget["role"]) => (choice: Choice) => ({
    deployment: choice.target.deployment.name,
    model: choice.target.model,
    lane: usualLane(choice.target, hooks),
    url: choice.target.url,
    role,
    weight: choice.weight,
    priority: choice.priority.join("."),
    reason: choice.target.reason,
  });
  const inOrder = (list: readonly Choice[]) =>
    [...list].sort((a, b) => byPriority(a, b) || b.weight - a.weight);
  return [
    ...inOrder(choices).map(describe("target")),
    ...fallbacks.flatMap((group) => inOrder(group).map(describe("fallback"))),
    ...larger.flatMap((group) => inOrder(group).map(describe("larger"))),
  ];
}
