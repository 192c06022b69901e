/** Permissions of the caller: the models, by any of their names, and the providers. */
import type { Call } from "../core/call.ts";
import type { Confinement } from "../core/confinement.ts";
import { GatewayError } from "../core/error.ts";
import { namesOf } from "../core/model-pattern.ts";
import { callerWords, type Permissions, type Principal } from "../core/principal.ts";
import type { Target } from "../core/provider.ts";
import type { Choice, Plan } from "./routing/plan.ts";
import type { ModelEntry, Operation, Registry } from "./routing/registry.ts";

/**
 * Waits for model lists of hosts if no rule knows the name. @param model the name that the client or a plugin has chosen
 * @returns undefined if there is nothing to wait for @throws GatewayError `permission` if the caller may not use the model
 */
export function prepareModel(call: Call, model: string, registry: Registry): Promise<void> | undefined {
  const { principal } = call;
  const waiting = registry.prepare(model);
  // The list of a host may tell which model an unknown name means.
  if (waiting && principal && !principal.options.allowsModel([model]))
    return waiting.then(() => assertModel(principal, model, registry));
  assertModel(principal, model, registry);
  return waiting;
}

/** The same for the model that a client asked for, and for the one to which something has led its call. */
export function prepareCall(call: Call, registry: Registry): Promise<void> | undefined {
  const { model, servingModel } = call;
  const asked = prepareModel(call, model, registry);
  if (servingModel === model) return asked;
  if (asked) return asked.then(() => prepareModel(call, servingModel, registry));
  return prepareModel(call, servingModel, registry);
}

/** Which models of providers a name means. */
export type Models = Pick<Registry, "servedBy">;

/** @param model as a client writes it @throws GatewayError `permission` (`model_not_allowed`) */
export function assertModel(principal: Principal | undefined, model: string, registry: Models): void {
  if (principal === undefined || principal.options.allowsModel([model])) return;
  const served = registry.servedBy(model);
  if (served.some((one) => principal.options.allowsModel(namesOf(one.provider.name, one.model)))) return;
  throw new GatewayError(
    "permission",
    `The ${callerWords(principal)} may not use the model \`${model}\`; GET /v1/models lists those that it may use.`,
    { code: "model_not_allowed", param: "model" },
  );
}

/** @throws GatewayError `permission` (`provider_not_allowed`) */
export function assertProvider(principal: Principal | undefined, provider: string): void {
  if (principal === undefined || principal.options.allowsProvider(provider)) return;
  throw new GatewayError(
    "permission",
    `The ${callerWords(principal)} may not use the provider ${provider}.`,
    {
      code: "provider_not_allowed",
    },
  );
}

/**
 * The plan of a call without what its caller may not use.
 * @throws GatewayError as `Registry.plan`, and `permission` (`provider_not_allowed`) if nothing is left
 */
export function planFor(
  { principal, confined }: Call,
  model: string,
  registry: Registry,
  format: string,
  operation?: Operation,
): Plan {
  const whole = registry.plan(model, format, operation);
  const plan = confined ? confine(whole, confined) : whole;
  return principal?.options.narrowsPlans ? narrow(plan, model, principal) : plan;
}

/** The targets to which something holds the call. A fallback takes the place of a model that is none of them. */
function confine(plan: Plan, { by, allows }: Confinement): Plan {
  const only = (groups: Plan["fallbacks"]) =>
    groups
      .map((group) => group.filter(({ target }) => allows(target)))
      .filter((group) => group.length > 0)
      .map((group) =>
        group.map((choice) => {
          const { target } = choice;
          return { ...choice, target: { ...target, reason: `${by}; ${target.reason}` } };
        }),
      );
  const [choices, ...fallbacks] = only([plan.choices, ...plan.fallbacks]);
  if (choices) return { choices, fallbacks, larger: only(plan.larger) };
  throw new GatewayError("permission", `The ${by} permits no model that could serve this call.`, {
    code: "model_not_allowed",
    shouldRetry: false,
  });
}

/** A fallback takes the place of a model whose providers are not permitted. */
function narrow(plan: Plan, model: string, principal: Principal): Plan {
  const { options } = principal;
  const isWhole = options.allowsModel([model]);
  const allowsTarget = (target: Target) => options.allowsModel(namesOf(target.provider.name, target.model));
  const isAllowed = ({ target, fallback }: Choice) =>
    options.allowsProvider(target.provider.name) &&
    ((fallback === undefined ? isWhole : options.allowsModel([fallback])) || allowsTarget(target));
  const narrowed = (groups: Plan["fallbacks"]) =>
    groups.map((group) => group.filter(isAllowed)).filter((group) => group.length > 0);
  const [choices, ...fallbacks] = narrowed([plan.choices, ...plan.fallbacks]);
  if (choices) return { choices, fallbacks, larger: narrowed(plan.larger) };
  const providers = [...new Set(plan.choices.map(({ target }) => target.provider.name))].join(", ");
  throw new GatewayError(
    "permission",
    `The ${callerWords(principal)} may not use the provider of the model \`${model}\` (${providers}).`,
    { code: "provider_not_allowed", param: "model" },
  );
}

/** The models that a caller may use, under the names by which it may. */
export function allowedModels(registry: Registry, principal: Principal | undefined): ModelEntry[] {
  const models = registry.models();
  const options: Permissions | undefined = principal?.options;
  if (!options?.narrowsPlans) return models;
  return models.flatMap((entry) => {
    const { id } = entry;
    const served = registry.servedBy(id);
    const names = served.flatMap(({ provider, model }) => namesOf(provider.name, model));
    if (!options.allowsModel([id, ...names])) return [];
    const serving = served.map(({ provider }) => provider.name);
    const permitted = [entry.provider, ...serving].find((name) => options.allowsProvider(name));
    return permitted === undefined ? [] : [{ id, provider: permitted }];
  });
}
