/** Values of the config by model name or pattern: fallbacks, and the settings of targets. */
import { namesOf } from "../../core/model-pattern.ts";
import type { Pattern } from "./pattern.ts";
import { bySpecificity, compilePattern } from "./pattern.ts";
import { mergeBreaker } from "../../core/merge-policies.ts";
import type { ModelSettings, Strategy } from "../../core/settings.ts";
import type { Choice } from "./plan.ts";

/** The value of the models that match a pattern. */
export interface ModelEntry<Value> {
  pattern: Pattern;
  value: Value;
}

/** A model as its provider names it. */
interface Served {
  provider: { name: string };
  model: string;
}

export class ModelTable<Value> {
  /** Sorted, the most specific pattern first. */
  readonly all: readonly ModelEntry<Value>[];
  readonly #exact: ReadonlyMap<string, ModelEntry<Value>>;
  readonly #patterns: readonly ModelEntry<Value>[];

  /** @param options by model name or pattern */
  constructor(options: Readonly<Record<string, Value>>) {
    this.all = Object.entries(options)
      .map(([text, value]) => ({ pattern: compilePattern(text), value }))
      .sort((a, b) => bySpecificity(a.pattern, b.pattern));
    this.#exact = new Map(
      this.all.filter(({ pattern }) => pattern.exact).map((entry) => [entry.pattern.text, entry]),
    );
    this.#patterns = this.all.filter(({ pattern }) => !pattern.exact);
  }

  /** The most specific value for one of these names, or for one of the names of the models that serve them. */
  of(given: readonly string[], served: readonly Served[]): Value | undefined {
    if (this.all.length === 0) return undefined;
    const names = [
      ...new Set([...given, ...served.flatMap(({ provider, model }) => namesOf(provider.name, model))]),
    ];
    const exact = names.flatMap((text) => this.#exact.get(text) ?? []);
    const [first] = exact.sort((a, b) => bySpecificity(a.pattern, b.pattern));
    return (first ?? this.#patterns.find(({ pattern }) => names.some((name) => pattern.test(name))))?.value;
  }
}

/** @param names of the model or route that the choices serve */
export function withSettings(
  choices: Choice[],
  settings: ModelTable<ModelSettings> | undefined,
  names: readonly string[],
): Choice[] {
  if (!settings || settings.all.length === 0) return choices;
  return choices.map((choice) => {
    const { target } = choice;
    const { body, timeouts, circuitBreaker } = settings.of(names, [target]) ?? {};
    const limits = timeouts && target.deployment.timeouts && { ...target.deployment.timeouts, ...timeouts };
    const breaker = circuitBreaker && mergeBreaker(target.deployment.circuitBreaker, circuitBreaker);
    const settled = {
      ...(body && { body }),
      ...(limits && { timeouts: limits }),
      ...(breaker && { circuitBreaker: breaker }),
    };
    return { ...choice, target: { ...target, ...settled } };
  });
}

/** The choices with what decides between them. */
export function orderedBy(choices: Choice[], by: Strategy): Choice[] {
  if (by === "weight" || choices.length < 2) return choices;
  return choices.map((choice) => {
    const { target } = choice;
    return { ...choice, by, target: { ...target, reason: `${target.reason}; by ${by}` } };
  });
}
