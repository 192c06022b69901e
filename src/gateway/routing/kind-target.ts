/** Where a deployment serves a kind: in the client's dialect if the provider has it, else in the first that serves the model. */
import { isHosted, servedKind } from "../../core/does.ts";
import type { KindEndpoint } from "../../core/kind.ts";
import { matchesModel, ownNamesOf } from "../../core/model-pattern.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import { urlOfPath } from "./endpoint.ts";
import { reasonOf, type Rule } from "./rules.ts";
import { traitsFor } from "./spoken-formats.ts";

/**
 * The target of a rule at one deployment; `undefined` if the provider does not serve the kind.
 * @param wanted `operation`: id of the kind; `format`: the client's dialect
 * @param prefix beginning of the target's reason: alias, route
 */
export function kindTarget(
  rule: Rule,
  deployment: Deployment,
  name: string,
  wanted: { operation: string; format: string },
  prefix: string,
): Target | undefined {
  const { provider, pattern } = rule;
  const model = pattern.strip(name);
  const reason = prefix + reasonOf(rule);
  const served = servedKind(provider.does, wanted.operation);
  if (served === undefined) return undefined;
  if (!isHosted(served))
    return { provider, deployment, model, lane: "generated", format: "", url: "", reason };
  const names = ownNamesOf(provider.name, model);
  const serving = Object.entries(served)
    .map(([id, endpoint]): [string, KindEndpoint] => [
      id,
      typeof endpoint === "string" ? { path: endpoint } : endpoint,
    ])
    .filter(([, { models }]) => !models || models.some((text) => matchesModel(text, names)));
  const found = serving.find(([id]) => id === wanted.format) ?? serving[0];
  if (!found) return undefined;
  const [format, { path }] = found;
  const lane = format === wanted.format ? "native" : "translated";
  const traits = traitsFor(provider, model);
  return {
    ...{ provider, deployment, model, lane, format, reason, url: urlOfPath(path, deployment, model) },
    ...(traits && { traits }),
  };
}
