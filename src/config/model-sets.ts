/** `modelSets`: where an option names a set of models, and what it stands for there. */
import { byPattern, type ModelSets, noSetClause, setNamed } from "../core/model-sets.ts";
import type { Fault, Path } from "./error.ts";
import { MODEL_PATTERN } from "./model-names.ts";

/** Sections whose names are models or patterns. */
const BY_PATTERN = ["aliases", "routing", "fallbacks", "models", "prices"] as const;

/** Values as the file contains them. */
export interface WrittenSets {
  modelSets?: ModelSets;
  keys?: readonly (string | { models?: readonly string[] })[];
  budgets?: Record<string, { on?: unknown; onEmpty?: unknown }>;
  rates?: Record<string, { on?: unknown }>;
  providers?: Record<string, { models?: readonly string[] }>;
  aliases?: Record<string, string>;
  routes?: Record<string, readonly Target[]>;
  routing?: Record<string, unknown>;
  fallbacks?: Record<string, readonly Target[]>;
  models?: Record<string, unknown>;
  prices?: Record<string, unknown>;
}

type Target = string | { model: string };

/** A text of the file, where it stands, and whether a set may be there. */
interface Place {
  path: Path;
  text: string;
  /** Why no set may be there; absent: it may. */
  why?: string;
}

/** Sets that are not valid, and names of sets that are where none can, or that no set has. */
export function setFaults(written: WrittenSets): Fault[] {
  const sets = written.modelSets ?? {};
  return [
    ...Object.entries(sets).flatMap(([name, list]) => definitionFaults(name, list)),
    ...useFaults(written),
  ];
}

function definitionFaults(name: string, patterns: readonly string[]): Fault[] {
  const path = ["modelSets", name];
  if (setNamed(`@${name}`) === undefined)
    return [
      { path, clause: "the name of a set must have 1 to 64 letters, digits, dots, dashes and underscores" },
    ];
  return patterns.flatMap((text, index): Fault[] => {
    const clause =
      setNamed(text) !== undefined
        ? `the set ${name} names the set ${text}; a set lists models and patterns`
        : MODEL_PATTERN.test(text)
          ? undefined
          : `the set ${name} must contain model names and patterns with *, but contains ${JSON.stringify(text)}`;
    return clause === undefined ? [] : [{ path: [...path, index], clause }];
  });
}

function useFaults(written: WrittenSets): Fault[] {
  const sets = written.modelSets ?? {};
  return [...placesOf(written)].flatMap(({ path, text, why }): Fault[] => {
    const name = setNamed(text);
    if (name === undefined) return [];
    if (why !== undefined) return [{ path, clause: `${text} names a set of models; ${why}` }];
    return Object.hasOwn(sets, name) ? [] : [{ path, clause: noSetClause(name, sets) }];
  });
}

const ONE_MODEL = "the name of one model must stand here";
const OWN_NAMES = "the models of a provider are listed by their own names";

/** The texts that name models or patterns. */
function* placesOf(written: WrittenSets): Generator<Place> {
  for (const section of BY_PATTERN)
    for (const text of Object.keys(written[section] ?? {})) yield { path: [section, text], text };
  for (const [index, key] of (written.keys ?? []).entries())
    if (typeof key !== "string")
      for (const [at, text] of (key.models ?? []).entries())
        yield { path: ["keys", index, "models", at], text };
  for (const section of ["budgets", "rates"] as const)
    for (const [name, { on }] of Object.entries(written[section] ?? {})) {
      const text = memberOf(on, "model");
      if (text !== undefined) yield { path: [section, name, "on", "model"], text };
    }
  for (const [name, { models = [] }] of Object.entries(written.providers ?? {}))
    for (const [at, text] of models.entries())
      yield { path: ["providers", name, "models", at], text, why: OWN_NAMES };
  for (const [alias, text] of Object.entries(written.aliases ?? {}))
    yield { path: ["aliases", alias], text, why: ONE_MODEL };
  for (const [name, { onEmpty }] of Object.entries(written.budgets ?? {})) {
    const text = memberOf(onEmpty, "use");
    if (text !== undefined) yield { path: ["budgets", name, "onEmpty", "use"], text, why: ONE_MODEL };
  }
  for (const name of Object.keys(written.routes ?? {}))
    yield { path: ["routes", name], text: name, why: ONE_MODEL };
  for (const section of ["routes", "fallbacks"] as const)
    for (const [name, targets] of Object.entries(written[section] ?? {}))
      for (const [at, target] of targets.entries())
        yield {
          path: [section, name, at],
          text: typeof target === "string" ? target : target.model,
          why: ONE_MODEL,
        };
}

function memberOf(value: unknown, name: string): string | undefined {
  const member =
    typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof member === "string" ? member : undefined;
}

/** The options with the patterns of a set in place of its name, in sections whose names are patterns. Keys, budgets and rate limits keep it. */
export function withoutSets(values: Record<string, unknown>): Record<string, unknown> {
  const sets = (values["modelSets"] ?? {}) as ModelSets;
  if (Object.keys(sets).length === 0) return values;
  const expanded = BY_PATTERN.map((section) => {
    const entries = (values[section] ?? {}) as Record<string, unknown>;
    return [section, byPattern(entries, sets)] as const;
  });
  return { ...values, ...Object.fromEntries(expanded) };
}
