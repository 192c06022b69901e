/**
 * The rules that give model names to providers. A name belongs to one provider: an exact name before a glob, `provider/model`
 * before other globs, a longer pattern before a shorter one, a plugin file before a built-in plugin, then the order of loading.
 * The config, or the region in a name, may leave only some of its deployments.
 */
import type { ActiveProvider, Deployment } from "../../core/provider.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import { matchesModel, ownNamesOf } from "../../core/model-pattern.ts";

export interface Rule {
  pattern: Pattern;
  provider: ActiveProvider;
  /** The pattern is the provider's `name/*`. */
  forced: boolean;
  builtIn: boolean;
  order: number;
  /** The rule comes from the model list of a host. */
  live?: boolean;
}

/** The rules of all providers, sorted: the first one that matches wins. */
export function rulesOf(providers: readonly ActiveProvider[]): readonly Rule[] {
  return Object.freeze(providers.flatMap(rulesOfOne).sort(byPrecedence));
}

function rulesOfOne(provider: ActiveProvider, order: number): Rule[] {
  const builtIn = provider.source === "built-in";
  return provider.patterns.map((text) => ({
    pattern: compilePattern(text),
    provider,
    forced: text === `${provider.name}/*`,
    builtIn,
    order,
  }));
}

function byPrecedence(a: Rule, b: Rule): number {
  return (
    Number(b.pattern.exact) - Number(a.pattern.exact) ||
    Number(b.forced) - Number(a.forced) ||
    b.pattern.text.length - a.pattern.text.length ||
    Number(a.builtIn) - Number(b.builtIn) ||
    a.order - b.order
  );
}

export function describeRule({ pattern, live }: Pick<Rule, "pattern" | "live">): string {
  if (live) return `model list of the host has ${pattern.text}`;
  return `${pattern.exact ? "exact name" : "pattern"} ${pattern.text}`;
}

/** One line of `weir models NAME`. */
export interface Candidate {
  provider: string;
  pattern: string;
  /** The model name for the provider. */
  model: string;
  source: string;
  reason: string;
  wins: boolean;
}

/** The rules that match a name, in order: the first wins. @param prefix of the reasons */
export function candidatesOf(matching: readonly Rule[], name: string, prefix: string): Candidate[] {
  return matching.map((rule, index) => ({
    provider: rule.provider.name,
    pattern: rule.pattern.text,
    model: rule.pattern.strip(name),
    source: rule.provider.source,
    reason: `${prefix}${whyBefore(rule, matching[index + 1])}`,
    wins: index === 0,
  }));
}

/** `provider/model` of a name that a rule serves. */
export function longNameBy(rule: Rule | undefined, name: string): string | undefined {
  return rule && `${rule.provider.name}/${rule.pattern.strip(name)}`;
}

/** Why a rule selects its provider: a clause for the reason of a target. */
export function reasonOf(rule: Rule): string {
  return `${describeRule(rule)}${rule.live ? "" : ` of ${rule.provider.name}`}`;
}

/** Why a rule comes before the next matching one: a clause for `weir models NAME`. */
function whyBefore(rule: Rule, next: Rule | undefined): string {
  if (!next || rule.live) return describeRule(rule);
  if (next.live) return `${describeRule(rule)}: patterns before model lists`;
  if (rule.pattern.exact !== next.pattern.exact) return `${describeRule(rule)}: exact before glob`;
  if (rule.forced !== next.forced) return `${describeRule(rule)}: the name includes the provider`;
  if (rule.pattern.text.length !== next.pattern.text.length)
    return `${describeRule(rule)}: longer before shorter`;
  if (rule.builtIn !== next.builtIn) return `${describeRule(rule)}: plugin file before built-in`;
  return `${describeRule(rule)}: loaded first`;
}

/** The rule for a model name, and the deployments of its provider. */
export interface ServingRule {
  rule: Rule;
  deployments: readonly Deployment[];
}

/** The deployments that can serve a model. */
export function servingDeployments({ rule, deployments }: ServingRule, name: string): readonly Deployment[] {
  if (!rule.provider.modelFault && deployments.every(({ models }) => models === undefined))
    return deployments;
  return deployments.filter((deployment) => faultAt(rule, deployment, name) === undefined);
}

/** Why none of the deployments can serve a model, in the words of its plugin or the config; undefined if one can. */
export function modelFault(serving: ServingRule | undefined, name: string): string | undefined {
  const faults = serving?.deployments.map((deployment) => faultAt(serving.rule, deployment, name)) ?? [];
  const isServed = faults.length === 0 || faults.includes(undefined);
  return isServed ? undefined : `The model \`${name}\` ${faults[0]}.`;
}

function faultAt(
  { provider, pattern }: Rule,
  { variables = {}, models }: Deployment,
  name: string,
): string | undefined {
  const model = pattern.strip(name);
  if (models && !models.some((pattern) => matchesModel(pattern, ownNamesOf(provider.name, model))))
    return `is not among the models of any deployment of ${provider.name}`;
  return provider.modelFault?.(model, variables);
}
