/** Where a model can be asked: its deployments by priority and weight, and the models that stand in when all of them fail. */
import type { Target } from "../../core/provider.ts";

/** One of the places a model can be asked at. */
export interface Choice {
  target: Target;
  weight: number;
  /** Compared part by part: that of the route, then that of the deployment. */
  priority: readonly [number, number];
}

export interface Plan {
  /** Never empty. */
  choices: readonly Choice[];
  /** Other models in order, each with its own deployments. */
  fallbacks: readonly (readonly Choice[])[];
  /** Those that are asked when a prompt does not fit. */
  larger: readonly (readonly Choice[])[];
}

/**
 * The choices in the order in which they are to be tried. Among equals each has its share by weight, and the same affinity
 * leads to the same one: rendezvous hashing, where one that is gone moves only its own share.
 */
export function rank(choices: readonly Choice[], affinity: () => string): readonly Choice[] {
  if (choices.length === 1) return choices;
  const key = affinity();
  const scored = choices.map((choice) => ({ choice, score: score(choice, key) }));
  scored.sort((a, b) => byPriority(a.choice, b.choice) || b.score - a.score);
  return scored.map(({ choice }) => choice);
}

function byPriority({ priority: a }: Choice, { priority: b }: Choice): number {
  return a[0] - b[0] || a[1] - b[1];
}

function score({ target, weight }: Choice, key: string): number {
  const hash = Bun.hash.murmur32v3(`${target.deployment.name} ${target.model}\n${key}`);
  // Between 0 and 1, neither of them included.
  const share = (hash + 0.5) / 2 ** 32;
  return weight / -Math.log(share);
}

/** One line of a plan, for those who want to know. */
export interface PlannedTarget {
  deployment: string;
  model: string;
  lane: string;
  /** Where it is called; empty for a program. */
  url: string;
  /** `target` of the model itself, `fallback` when all of those have failed, `larger` when a prompt does not fit. */
  role: "target" | "fallback" | "larger";
  weight: number;
  priority: string;
  reason: string;
}

/** A plan as a list, in the order of its priorities. */
export function describePlan({ choices, fallbacks, larger }: Plan): PlannedTarget[] {
  const describe = (role: PlannedTarget["role"]) => (choice: Choice) => ({
    deployment: choice.target.deployment.name,
    model: choice.target.model,
    lane: choice.target.lane,
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
