/** Options of the requests of a model. */
import { type Fault, faultAt } from "../error.ts";
import { ALIAS_NAME, MODEL_NAME, nameFault, patternFault } from "../model-names.ts";
import type { WrittenConfig } from "../section.ts";
import { section } from "../section.ts";
import { Type } from "@sinclair/typebox";
import type { JsonObject } from "../../core/json.ts";
import { CLOSED, oneOf } from "./kinds.ts";
import { priority, upstreamTimeouts, weight } from "./providers.ts";
import { modelCircuitBreaker, modelRetries, retryFaults, type WrittenPolicies } from "./retries.ts";

/** How hard a model thinks, in words that each client format has. */
const EFFORTS = ["minimal", "low", "medium", "high", "xhigh"] as const;

const requestSettings = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
        topP: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
        maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
        reasoningEffort: Type.Optional(oneOf(EFFORTS, {})),
      },
      { ...CLOSED, description },
    ),
  );

const modelOptions = Type.Object(
  {
    set: requestSettings("Values for requests that do not say otherwise."),
    force: requestSettings("Values that replace those of the client."),
    body: Type.Optional(
      Type.Unsafe<JsonObject>(
        Type.Object(
          {},
          {
            additionalProperties: true,
            "x-expects": "a map of names to values",
            description:
              "Members that weir adds to the request for the provider, unless the request has them.",
          },
        ),
      ),
    ),
    timeouts: Type.Optional(upstreamTimeouts),
    retries: modelRetries,
    circuitBreaker: modelCircuitBreaker,
  },
  CLOSED,
);

/** The members of an entry of `models`. */
export const MODEL_SETTINGS: readonly string[] = Object.keys(modelOptions.properties);

export const models = section(
  "models",
  Type.Record(Type.String(), modelOptions, {
    default: {},
    examples: [{ "gpt-5-thinking": { set: { reasoningEffort: "high" } } }],
    description:
      "Settings of the requests of a model, by model name, alias, route or pattern: `{set, force, body, timeouts, retries, circuitBreaker}`. The most specific entry applies (README of this folder).",
  }),
  { faults: modelFaults },
);

export const modelSets = section(
  "modelSets",
  Type.Record(
    Type.String(),
    Type.Array(Type.String(), { minItems: 1, "x-expects": "a list of at least one model or pattern" }),
    {
      default: {},
      examples: [{ cheap: ["gpt-5.4-nano", "claude-haiku-*", "groq/*"] }],
      description:
        'Named sets of models: `cheap: [gpt-5.4-nano, claude-haiku-*]`. Where a model pattern may stand, `"@cheap"` stands for the patterns of the set (README of this folder).',
    },
  ),
);

const routeTarget = Type.Union(
  [
    Type.String({ description: "Model name, often `provider/model`." }),
    Type.Object(
      { model: Type.String({ description: "Model name, often `provider/model`." }), weight, priority },
      CLOSED,
    ),
  ],
  { "x-expects": "a model, or a group of `model`, `weight` and `priority`" },
);

const fallbackTarget = Type.Union(
  [
    Type.String({ description: "Model name, often `provider/model`." }),
    Type.Object(
      {
        model: Type.String({ description: "Model name, often `provider/model`." }),
        when: Type.Optional(
          oneOf(["failed", "too-long"], {
            description:
              "`failed` (default): used when all deployments of the model failed; `too-long`: used when the prompt exceeds the model's context window.",
          }),
        ),
      },
      CLOSED,
    ),
  ],
  { "x-expects": "a model, or a group of `model` and `when`" },
);

/** A list of models with at least one entry. */
const MODELS = { minItems: 1, "x-expects": "a list of at least one model" };

export const aliases = section(
  "aliases",
  Type.Record(Type.String(), Type.String(), {
    default: {},
    examples: [{ fast: "openai/gpt-5.4-nano" }],
    propertyNames: { pattern: ALIAS_NAME.source },
    description:
      "Alternative model names or patterns, each with the model it resolves to, for example `fast: groq/llama-3.3-70b-versatile` or `claude-*: vllm/qwen3`.",
  }),
  {
    faults: (written) => aliasFaults(written as Record<string, string>),
    settle: (written) =>
      Object.fromEntries([...aliasEnds(written)].map(([alias, end]) => [alias, end ?? alias])),
  },
);

export const routes = section(
  "routes",
  Type.Record(Type.String(), Type.Array(routeTarget, MODELS), {
    default: {},
    examples: [{ smart: ["openai/gpt-5.4", { model: "mock/chat", priority: 1 }] }],
    propertyNames: { pattern: MODEL_NAME.source },
    description:
      "Model names that are load-balanced over several models by `weight` and `priority`: `smart: [openai/gpt-5.4, {model: groq/…, priority: 1}]`.",
  }),
  { faults: routeFaults },
);

export const routing = section(
  "routing",
  Type.Record(Type.String(), oneOf(["weight", "latency", "usage", "cost"], {}), {
    default: {},
    examples: [{ smart: "latency" }],
    description:
      "What decides between targets of one priority, by model name, alias, route or pattern: `weight` (default), `latency`, `usage` or `cost`. The most specific entry applies.",
  }),
);

export const fallbacks = section(
  "fallbacks",
  Type.Record(Type.String(), Type.Array(fallbackTarget, MODELS), {
    default: {},
    examples: [{ "gpt-*": ["mock/chat"] }],
    description:
      "Fallback models, tried in order when all deployments of a model failed; by model name, route or pattern: `gpt-*: [anthropic/claude-sonnet-5]`. With `when: too-long` a fallback is used when the prompt exceeds the model's context window.",
  }),
  { faults: fallbacksFaults },
);

function aliasFaults(aliases: Record<string, string>): Fault[] {
  const ends = aliasEnds(aliases);
  return Object.entries(aliases).flatMap(([alias, target]) => {
    const path = ["aliases", alias];
    if (!ALIAS_NAME.test(alias)) return faultAt(path, `an alias ${nameFault(alias)}`);
    if (!MODEL_NAME.test(target))
      return faultAt(path, `the model that ${alias} resolves to ${nameFault(target)}`);
    return faultAt(path, ends.get(alias) === undefined ? `${alias} resolves to itself` : undefined);
  });
}

/** A route may list models, not routes: nested routes could form a cycle. */
function routeFaults(written: unknown, whole: WrittenConfig): Fault[] {
  const routes = written as Record<string, WrittenTarget[]>;
  const aliases = (whole["aliases"] ?? {}) as Record<string, string>;
  const ends = aliasEnds(aliases);
  return Object.entries(routes).flatMap(([route, targets]) => {
    if (!MODEL_NAME.test(route)) return faultAt(["routes", route], `the name of a route ${nameFault(route)}`);
    if (Object.hasOwn(aliases, route)) return faultAt(["routes", route], `${route} is already an alias`);
    return targets.flatMap((target, index) => {
      const model = modelOf(target);
      const path = ["routes", route, index];
      if (!MODEL_NAME.test(model)) return faultAt(path, `the model in route ${route} ${nameFault(model)}`);
      const meant = ends.get(model) ?? model;
      if (meant === route) return faultAt(path, `the route ${route} contains itself`);
      return faultAt(
        path,
        Object.hasOwn(routes, meant)
          ? `the route ${route} must list models, but ${model} is a route; list that route's models instead`
          : undefined,
      );
    });
  });
}

/** A model of a route or a fallback as the file contains it. */
type WrittenTarget = string | { model: string };

function modelOf(target: WrittenTarget): string {
  return typeof target === "string" ? target : target.model;
}

function fallbackFaults(name: string, targets: readonly WrittenTarget[]): Fault[] {
  const fault = patternFault(name);
  if (fault) return faultAt(["fallbacks", name], `a fallback's name ${fault}`);
  return targets.flatMap((target, index) => {
    const path = ["fallbacks", name, index];
    const model = modelOf(target);
    if (model === name) return faultAt(path, `${name} falls back to itself`);
    return faultAt(path, MODEL_NAME.test(model) ? undefined : `the fallback of ${name} ${nameFault(model)}`);
  });
}

/** Members that the client, the format or the price of a call decides. */
const NOT_IN_BODY =
  /^(model|stream\w*|messages|input|contents|system|instructions|tools|n|max_\w*tokens|generationConfig|service_?tier|speed|web_search\w*|mcp_servers)$/i;

function settingsFaults(name: string, { body = {} }: { body?: Record<string, unknown> }): Fault[] {
  const fault = patternFault(name);
  if (fault) return faultAt(["models", name], `the name of a model ${fault}`);
  const refused = Object.keys(body).find((member) => NOT_IN_BODY.test(member));
  return faultAt(
    ["models", name, "body", refused ?? ""],
    refused && `${refused} cannot be added to a request; only set and force change what a call may cost`,
  );
}

/** The model name at the end of each chain of aliases; undefined when the chain is a cycle. */
type AliasEnds = ReadonlyMap<string, string | undefined>;

/** Resolves all aliases. Each chain is followed once, so the cost is linear in the number of aliases. */
export function aliasEnds(aliases: Readonly<Record<string, string>>): AliasEnds {
  const ends = new Map<string, string | undefined>();
  for (const alias of Object.keys(aliases)) {
    const chain = new Set<string>();
    let name = alias;
    while (Object.hasOwn(aliases, name) && !ends.has(name) && !chain.has(name)) {
      chain.add(name);
      name = aliases[name]!;
    }
    const end = ends.has(name) ? ends.get(name) : chain.has(name) ? undefined : name;
    for (const link of chain) ends.set(link, end);
  }
  return ends;
}

function modelFaults(written: unknown, whole: WrittenConfig): Fault[] {
  return Object.entries(
    written as Record<string, { body?: Record<string, unknown> } & WrittenPolicies>,
  ).flatMap(([name, settings]) => [
    ...settingsFaults(name, settings),
    ...retryFaults(["models", name], settings, whole),
  ]);
}

function fallbacksFaults(written: unknown): Fault[] {
  return Object.entries(written as Record<string, WrittenTarget[]>).flatMap(([name, targets]) =>
    fallbackFaults(name, targets),
  );
}
