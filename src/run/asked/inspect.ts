/** A worker's answers to the console about its parts: routing, models, providers, config. Plain JSON; credentials are never in it. */
import type { Config } from "../../config/schema.ts";
import { hooksOf } from "../assemble.ts";
import { operationsOf } from "../../gateway/routing/tasks.ts";
import { GatewayError } from "../../core/error.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import type { Hooks } from "../../core/plugin.ts";
import type { Health } from "../../gateway/retry/health.ts";
import { type Choice, describePlan, type Plan } from "../../gateway/routing/plan.ts";
import type { Registry } from "../../gateway/routing/registry.ts";
import type { Inspected } from "./inspected.ts";
import type { Frozen } from "../../operator/contract.ts";
import type { Models, Routing } from "../../operator/routing.ts";
import type { Question } from "../../ledger/messages.ts";
import type { ProviderFacts } from "../../ledger/provider-facts.ts";

/** @throws Error with one sentence */
export async function inspect(question: Question, inspected: Inspected): Promise<unknown> {
  const { registry } = inspected.parts;
  switch (question.what) {
    case "routing":
      return describeRouting(question.model, inspected);
    case "models":
      return describeModels(registry, inspected.merged);
    case "model-facts":
      return (await import("./model-facts.ts")).describeFacts(question.models, inspected);
    case "stored-models":
      return inspected.stored.states;
    case "check-model":
      return inspected.stored.check(question.model, { ...inspected, locate: inspected.settings.locate });
    case "unmatched":
      return (await import("../known-models.ts")).unmatchedPatterns(question.patterns, registry);
    case "providers":
      return describeProviders(registry, inspected.health);
    case "config":
    case "config-source":
    case "reload":
      return (await import("./config.ts")).inspectConfig(question.what, inspected);
    case "lend":
    case "settled":
      throw new Error(`the worker answers ${question.what} elsewhere`);
  }
}

async function describeRouting(model: string, { parts, health }: Inspected): Promise<Frozen<Routing>> {
  const { registry } = parts;
  await registry.prepare(model);
  const candidates = registry.explain(model);
  try {
    // Lanes and paths depend on the client's format, the order of attempts does not.
    const [operation] = operationsOf(registry.servedBy(model), registry.kinds);
    const plan = registry.plan(model, clientFormats(registry)[0]!.id, operation);
    return { model, plan: describeSteps(plan, health, hooksOf(parts.plugins)), candidates };
  } catch (cause) {
    if (!(cause instanceof GatewayError)) throw cause;
    return { model, plan: [], candidates, fault: cause.message };
  }
}

const STATES = {
  closed: "healthy",
  "half-open": "on-trial",
  failing: "left-alone",
  paused: "left-alone",
  full: "full",
} as const;

function describeSteps(plan: Plan, health: Health, hooks: readonly Hooks[]) {
  const all: readonly Choice[] = [...plan.choices, ...plan.fallbacks.flat(), ...plan.larger.flat()];
  return describePlan(plan, hooks).map((step) => {
    const { target } = all.find(
      ({ target }) => target.deployment.name === step.deployment && target.model === step.model,
    )!;
    const { state, opensAt } = health.outlook(target);
    return {
      ...step,
      provider: target.provider.name,
      state: STATES[state],
      ...(STATES[state] === "left-alone" && { until: wallOf(opensAt) }),
    };
  });
}

/** @param at monotonic milliseconds @returns milliseconds since 1970 */
function wallOf(at: number): number {
  return Math.round(Date.now() + at - performance.now());
}

function clientFormats({ formats }: Registry) {
  return [...formats.values()].filter(
    (format): format is Format & { client: ClientCodec } => format.client !== undefined,
  );
}

function describeModels(registry: Registry, { aliases, routes }: Config): Frozen<Models> {
  return {
    models: [...registry.eachModel()].map(({ id, provider }) => ({ id, provider })),
    aliases,
    routes: Object.keys(routes),
    formats: clientFormats(registry).map(({ id, client }) => ({ id, path: client.routes.path })),
  };
}

function describeProviders(registry: Registry, health: Health): ProviderFacts {
  const breakers = health.describe().map(({ opensAt, since, ...breaker }) => ({
    ...breaker,
    since: wallOf(since),
    until: wallOf(opensAt),
  }));
  const on = registry.providers.map((provider) => ({
    name: provider.name,
    source: provider.source,
    formats: Object.keys(provider.speaks ?? {}),
    patterns: provider.patterns,
    on: true,
    deployments: provider.deployments.map(
      ({ name, baseUrl, weight, priority, concurrency, keyVariable }) => ({
        name,
        url: baseUrl === "" ? "" : new URL(baseUrl).origin,
        weight,
        priority,
        ...(concurrency !== undefined && { maxConcurrency: concurrency }),
        ...(keyVariable !== undefined && { keyVariable }),
      }),
    ),
  }));
  const off = registry.off.map(({ provider, source, reason }) => ({
    name: provider.name,
    source,
    formats: Object.keys(provider.speaks ?? {}),
    patterns: provider.models ?? [],
    on: false,
    why: reason,
    ...(provider.apiKey !== undefined && { keyVariable: provider.apiKey }),
    deployments: [],
  }));
  return { providers: [...on, ...off], breakers };
}
