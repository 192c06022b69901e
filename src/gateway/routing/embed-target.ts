/** Where a deployment embeds: in the client's dialect if the provider has it, else in the first that serves the model. */
import type { EmbedEndpoint } from "../../core/embed.ts";
import { matchesModel, ownNamesOf } from "../../core/model-pattern.ts";
import type { Deployment, Provider, Target } from "../../core/provider.ts";
import { urlOfPath } from "./endpoint.ts";
import { reasonOf, type Rule } from "./rules.ts";

/** The endpoint of a provider for a dialect that it has. */
export function embedEndpoint({ embeds = {} }: Provider, dialect: string): EmbedEndpoint {
  const endpoint = embeds[dialect]!;
  return typeof endpoint === "string" ? { path: endpoint } : endpoint;
}

/**
 * The target of a rule at one deployment; `undefined` if the provider does not embed.
 * @param prefix beginning of the target's reason: alias, route
 */
export function embedTarget(
  rule: Rule,
  deployment: Deployment,
  name: string,
  clientDialect: string,
  prefix: string,
): Target | undefined {
  const { provider, pattern } = rule;
  const model = pattern.strip(name);
  const reason = prefix + reasonOf(rule);
  if (provider.embed) return { provider, deployment, model, lane: "generated", format: "", url: "", reason };
  const dialects = Object.keys(provider.embeds ?? {}).filter((id) =>
    servesModel(embedEndpoint(provider, id), ownNamesOf(provider.name, model)),
  );
  const format = dialects.includes(clientDialect) ? clientDialect : dialects[0];
  if (format === undefined) return undefined;
  const url = urlOfPath(embedEndpoint(provider, format).path, deployment, model);
  const lane = format === clientDialect ? "native" : "translated";
  return { provider, deployment, model, lane, format, url, reason };
}

function servesModel({ models }: EmbedEndpoint, names: readonly string[]): boolean {
  return !models || models.some((pattern) => matchesModel(pattern, names));
}

/** Most inputs of one request for a model; `undefined` if the provider says nothing. */
export function maxInputsOf({ maxInputs }: EmbedEndpoint, names: readonly string[]): number | undefined {
  if (typeof maxInputs !== "object") return maxInputs;
  return Object.entries(maxInputs).find(([text]) => matchesModel(text, names))?.[1];
}
