/** The models that may answer a call, by which a guard decides whether it looks at the call. */
import { namesOf } from "../../../core/model-pattern.ts";
import type { Target } from "../../../core/provider.ts";
import type { Entry } from "../../../gateway/seams.ts";

export interface GuardedModel {
  /** All of its names, that of the client included. */
  readonly names: readonly string[];
  /** Those that no client chooses: of the provider, and of an alias, a route or a fallback of the operator. */
  readonly sure: readonly string[];
}

/**
 * Each model that may answer, fallbacks included. @returns none for a model that no provider serves
 * @param servingModel default: that of the call
 */
export function modelsOf(
  entry: Pick<Entry, "call" | "registry" | "format" | "operation">,
  servingModel: string = entry.call.servingModel,
): GuardedModel[] {
  const { registry, format } = entry;
  const { confined } = entry.call;
  const { routes, aliases } = registry.names;
  const isNamed = routes.has(servingModel) || aliases.resolve(servingModel) !== servingModel;
  const modelOf = ({ provider, model }: Target, fallback: string | undefined): GuardedModel => ({
    names: namesOf(provider.name, model, fallback ?? servingModel),
    sure: namesOf(provider.name, model, fallback ?? (isNamed ? servingModel : undefined)),
  });
  try {
    const { choices, fallbacks, larger } = registry.plan(servingModel, format.id, plannedAs(entry));
    return [choices, ...fallbacks, ...larger]
      .flat()
      .filter(({ target }) => confined?.allows(target) ?? true)
      .map(({ target, fallback }) => modelOf(target, fallback));
  } catch {
    return [];
  }
}

/** What a call asks a model for, as the registry names it. */
export function plannedAs({
  operation,
  format,
  registry,
}: Pick<Entry, "registry" | "format" | "operation">): string {
  if (operation === "embeddings") return "embed";
  return registry.kinds.has(operation) ? operation : (format.kind ?? "generate");
}
