/**
 * Leaves out the deployments that cannot serve a model, because the config limits them to other models or because its
 * name belongs to another region.
 */
import { matchesModel, ownNamesOf } from "../../core/model-pattern.ts";
import type { Deployment } from "../../core/provider.ts";
import type { Rule } from "./precedence.ts";

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

/** That a provider does not serve an operation. */
export function operationFault(provider: string, model: string, operation: "generate" | "embed"): string {
  return operation === "embed"
    ? `The provider ${provider} serves no embeddings for the model \`${model}\`.`
    : `The provider ${provider} serves only embeddings: the model \`${model}\` generates no answers.`;
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
