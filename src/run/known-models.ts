/** Rules that match no model that weir knows of. Most are mistyped: a budget would count nothing, a scope would permit nothing. */
import { declaredBy } from "../config/declared.ts";
import type { Config } from "../config/schema.ts";
import { globMatches } from "../core/glob.ts";
import { namesOf, unmatchedSentence } from "../core/model-pattern.ts";
import { setNamed } from "../core/model-sets.ts";
import type { ActiveProvider } from "../core/provider.ts";
import type { Registry } from "../gateway/routing/registry.ts";
import { shippedSnapshot } from "../ledger/prices/shipped.ts";

/** A rule about models, in words, and its patterns. */
interface ModelRule {
  where: string;
  patterns: readonly string[];
}

/**
 * Patterns that match none of the models of providers that are on, of the model lists of hosts, of aliases, of routes and of the
 * price book. Waits at most one second for the lists of hosts.
 * @param asksHosts false: hosts that have not been asked for their lists are not asked
 */
export async function unmatchedPatterns(
  patterns: readonly string[],
  registry: Registry,
  asksHosts = true,
): Promise<string[]> {
  // The patterns of sets are rules of their own.
  const wanted = patterns.filter(
    (pattern) => pattern.replaceAll("*", "") !== "" && setNamed(pattern) === undefined,
  );
  if (wanted.length === 0) return [];
  if (asksHosts) await registry.live.wait();
  const { names, unlisted } = knownModels(registry);
  return wanted.filter(
    (pattern) =>
      !names.some((name) => globMatches(pattern, name)) &&
      !unlisted.some((provider) => mayServe(provider, pattern)),
  );
}

/** @returns all names, and the providers of which weir knows no model */
function knownModels(registry: Registry): { names: string[]; unlisted: ActiveProvider[] } {
  const names = new Set<string>();
  const listed = new Set<string>();
  const add = (provider: string, model: string) => {
    listed.add(provider);
    for (const name of namesOf(provider, model)) names.add(name);
  };
  for (const { provider, model } of shippedSnapshot().lines()) add(provider, model);
  for (const { id } of registry.eachModel()) {
    names.add(id);
    for (const { provider, model } of registry.servedBy(id)) add(provider.name, model);
  }
  for (const { name } of registry.providers.filter(({ generate }) => generate)) listed.delete(name);
  return { names: [...names], unlisted: registry.providers.filter(({ name }) => !listed.has(name)) };
}

/** Whether a provider with unknown models may have one that a pattern matches. */
function mayServe({ name, patterns }: ActiveProvider, pattern: string): boolean {
  const long = `${name}/`;
  const [beginning = ""] = pattern.split("*");
  return (
    beginning.startsWith(long) ||
    (pattern.includes("*") && long.startsWith(beginning)) ||
    patterns.some((own) => globMatches(own, pattern))
  );
}

/** A sentence for each rule of the config whose pattern matches no model that weir knows. */
export async function unmatchedRules(
  config: Config,
  registry: Registry,
  asksHosts?: boolean,
): Promise<string[]> {
  const rules = modelRules(config);
  const all = rules.flatMap(({ patterns }) => patterns);
  const unmatched = new Set(await unmatchedPatterns(all, registry, asksHosts));
  return rules.flatMap(({ where, patterns }) =>
    patterns.filter((pattern) => unmatched.has(pattern)).map((pattern) => unmatchedSentence(pattern, where)),
  );
}

function modelRules(config: Config): ModelRule[] {
  const { keys, budgets, rates } = declaredBy(config);
  const sections = ["fallbacks", "models", "prices"] as const;
  const { modelSets } = config;
  const inSets = new Set(Object.values(modelSets).flat());
  return [
    ...keys.map(({ name, scopes }) => ({ where: `the key ${name}`, patterns: scopes.models ?? [] })),
    ...budgets.map(({ name, on }) => ({
      where: `the budget ${name}`,
      patterns: on.kind === "model" ? [on.what] : [],
    })),
    ...rates.map(({ name, on }) => ({
      where: `the rate limit ${name}`,
      patterns: on.kind === "model" ? [on.what] : [],
    })),
    ...Object.entries(modelSets).map(([name, patterns]) => ({ where: `the set ${name}`, patterns })),
    ...sections.map((section) => ({
      where: section,
      patterns: Object.keys(config[section]).filter((pattern) => !inSets.has(pattern)),
    })),
  ];
}
