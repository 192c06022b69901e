/**
 * A model as clients of the format read it. The SDKs of OpenAI read `created` and `owned_by`; coding clients and routers
 * read the members of OpenRouter's list (https://openrouter.ai/docs/models), and clients made for vLLM `max_model_len`. What
 * is not known is `null` where these lists have `null`, and absent otherwise.
 */
import { Type } from "@sinclair/typebox";
import type { JsonObject } from "../../../core/json.ts";
import type { ModelFacts, ModelPrices } from "../../../core/model-facts.ts";
import type { ListedModel, ModelMembers } from "../../../core/model-listing.ts";
import { FORMAT } from "../own-fields.ts";
import { OPTIONS, SAMPLES } from "./options.ts";
import { nullable, open, toJson } from "../../shared/schema.ts";
import { SOME_DATE } from "../../shared/listed.ts";

function of({ id, provider, model, carried, facts = {} }: ListedModel): JsonObject {
  const { name = id, contextWindow = null, maxOutput = null, prices, deprecatedOn = null } = facts;
  return {
    object: "model",
    created: facts.created ?? SOME_DATE,
    owned_by: provider,
    name,
    description: `Served by ${provider}.`,
    ...(model !== undefined && { canonical_slug: `${provider}/${model}` }),
    context_length: contextWindow,
    max_model_len: contextWindow,
    ...architectureOf(facts),
    ...(prices && { pricing: pricingOf(prices) }),
    top_provider: { context_length: contextWindow, max_completion_tokens: maxOutput },
    ...supportedBy(facts, carried?.[FORMAT]),
    expiration_date: deprecatedOn,
    shutdown_date: deprecatedOn,
  };
}

/**
 * The options that reach the model, without those that need an ability that it is not known to have. Absent while it is not
 * known whether it calls tools: clients take a list without tools for "no".
 */
function supportedBy({ abilities, options }: ModelFacts, carried: readonly string[] | undefined): JsonObject {
  if (abilities?.tools === undefined || !carried) return {};
  const isSupported = (name: string) => {
    const { needs, with: other } = OPTIONS[name] ?? {};
    const isTaken = options?.includes(name) ?? true;
    return isTaken && (needs?.(abilities) ?? true) && (other === undefined || carried.includes(other));
  };
  return { supported_parameters: carried.filter(isSupported) };
}

function architectureOf({ input, output }: ModelFacts): JsonObject {
  if (!input && !output) return {};
  return {
    architecture: {
      ...(input && output && { modality: `${input.join("+")}->${output.join("+")}` }),
      ...(input && { input_modalities: [...input] }),
      ...(output && { output_modalities: [...output] }),
    },
  };
}

const PRICES: Readonly<Record<Exclude<keyof ModelPrices, "units">, string>> = {
  input: "prompt",
  output: "completion",
  request: "request",
  image: "image",
  search: "web_search",
  reasoning: "internal_reasoning",
  cacheRead: "input_cache_read",
  cacheWrite: "input_cache_write",
};

function pricingOf(prices: Readonly<ModelPrices>): JsonObject {
  const names = Object.keys(PRICES) as (keyof typeof PRICES)[];
  const units = Object.entries(prices.units ?? {}).map(([unit, dollars]) => [unit, decimal(dollars)]);
  return Object.fromEntries([
    ...names.flatMap((name) => (prices[name] === undefined ? [] : [[PRICES[name], decimal(prices[name])]])),
    ...(units.length > 0 ? [["units", Object.fromEntries(units)]] : []),
  ]) as JsonObject;
}

/** Without an exponent: clients compare and show the text. */
function decimal(dollars: number): string {
  return dollars.toFixed(15).replace(/\.?0+$/, "");
}

const tokens = (description: string) => nullable(Type.Integer(), { description });
const price = (description: string) => Type.Optional(Type.String({ description }));

const describeMembers = () =>
  open({
    object: Type.Literal("model"),
    created: Type.Integer({ description: "Unix seconds; a fixed date where the real one is not known." }),
    owned_by: Type.String({ description: "The provider that serves the model." }),
    name: Type.String({ description: "The name for people; the id where no other is known." }),
    description: Type.String(),
    canonical_slug: Type.Optional(
      Type.String({
        description:
          "The provider and its own name of the model, which is also a name for requests; absent for a route to several models.",
      }),
    ),
    context_length: tokens("Most tokens of a request; of a route, the least of its models."),
    max_model_len: tokens("The same."),
    architecture: Type.Optional(
      open({
        modality: Type.Optional(Type.String({ description: "`text+image->text`" })),
        input_modalities: Type.Optional(Type.Array(Type.String())),
        output_modalities: Type.Optional(Type.Array(Type.String())),
      }),
    ),
    pricing: Type.Optional(
      open(
        {
          prompt: Type.String({ description: "A token of the request." }),
          completion: Type.String({ description: "A token of the answer." }),
          request: price("A request."),
          image: price("An image in the request."),
          web_search: price("A search."),
          internal_reasoning: price("A token of reasoning."),
          input_cache_read: price("A token that the provider's cache had."),
          input_cache_write: price("A token that the provider's cache stores."),
          units: Type.Optional(
            Type.Record(Type.String(), Type.String(), {
              description:
                "What is no token, by its unit: `search` of a model that ranks, `image`, `second`, `character`.",
            }),
          ),
        },
        {
          description:
            "Dollars as decimal texts, for requests of the usual tier and length. Absent while no price is known, and for a route to models with several prices.",
        },
      ),
    ),
    top_provider: open({
      context_length: tokens("As above."),
      max_completion_tokens: tokens("Most tokens of an answer."),
    }),
    supported_parameters: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Members of a chat-completions request that weir carries to the model and that the model is known to take. Absent while it is not known whether the model calls tools.",
      }),
    ),
    expiration_date: nullable(Type.String(), {
      description: "The day on which the provider turns the model off, if it is announced: `2026-12-31`.",
    }),
    shutdown_date: nullable(Type.String(), { description: "The same." }),
  });

/** OpenRouter's filter: `?supported_parameters=tools,reasoning`. */
function wants({ supported_parameters: supported }: JsonObject, query: URLSearchParams): boolean {
  const wanted = query.get("supported_parameters")?.split(",") ?? [];
  return wanted.every((name) => Array.isArray(supported) && supported.includes(name));
}

/** The schema is made when it is read: only the OpenAPI document needs it. */
export const modelMembers: ModelMembers = {
  of,
  samples: SAMPLES,
  wants,
  get schema() {
    return toJson(describeMembers());
  },
};
