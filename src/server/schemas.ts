/** The schemas of the bodies that belong to no format. */
import type { TProperties, TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";
import type { JsonObject } from "../core/json.ts";

function open(properties: TProperties, options: object = {}) {
  return Type.Object(properties, { additionalProperties: true, ...options });
}

const nullable = (schema: TSchema, options: object = {}) => Type.Union([schema, Type.Null()], options);

const words = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));

export const Hello = open(
  {
    name: Type.Literal("weir"),
    version: Type.String(),
    openapi: Type.String({ description: "Path of the OpenAPI document." }),
  },
  {
    title: "Hello",
    description: "Further members are sentences by which clients of some formats recognise a server.",
  },
);

export const Health = open(
  {
    status: words("starting", "ok", "draining"),
    version: Type.String(),
    degraded: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Parts that do not work at the moment, while calls go on: `ledger`; `keys`: those of the store admit nothing before `weir store release`; `secrets`: one cannot be read again, and its last value stays in use.",
      }),
    ),
  },
  { title: "Health" },
);

function anyObject() {
  return open({});
}

/** The schemas of a model and of the list. @param parts those of the members that clients of each format read */
export function modelSchemas(parts: readonly JsonObject[]): { Model: TSchema; ModelList: TSchema } {
  const own = open({
    id: Type.String(),
    does: Type.Array(Type.String(), {
      description:
        "What weir sends to the model: `chat`, `embedding`, `rerank`, `moderation`. Empty: nothing that weir serves. Of a model about which nothing is known, all that its provider does; of a route, what one of its models does.",
    }),
  });
  const Model = Type.Intersect([own, ...parts.map((part) => Type.Unsafe(part))], {
    title: "Model",
    description:
      "One model, with the members that the SDKs of several vendors read, OpenRouter's list among them.",
  });
  const ModelList = open(
    {
      object: Type.Literal("list"),
      data: Type.Array(Model),
      has_more: Type.Boolean(),
      first_id: nullable(Type.String()),
      last_id: nullable(Type.String()),
    },
    { title: "ModelList" },
  );
  return { Model, ModelList };
}

const lane = words("native", "translated", "generated");

export const Explanation = open(
  {
    format: Type.String({ description: "The client format of the request." }),
    model: Type.String({ description: "The model as the client named it." }),
    served_by: open({
      provider: Type.String(),
      deployment: Type.String(),
      model: Type.String({ description: "The model as the provider names it." }),
      lane,
      format: nullable(Type.String(), { description: "The provider's format; null for a program." }),
      reason: Type.String(),
      turned_off_on: Type.Optional(
        Type.String({
          description: "The day on which the provider turns the model off, if it is announced.",
        }),
      ),
    }),
    plan: Type.Array(
      open({
        deployment: Type.String(),
        model: Type.String(),
        lane,
        url: Type.String(),
        role: words("target", "fallback", "larger"),
        weight: Type.Number(),
        priority: Type.String(),
        reason: Type.String(),
      }),
      { description: "The deployments that weir would try, in order." },
    ),
    retries: Type.Optional(
      open(
        {
          attempts: Type.Integer(),
          maybe_sent: Type.Boolean(),
          repeats_after: Type.Record(Type.String(), Type.Integer(), {
            description: "How often weir repeats the call at most, by the cause of the failure.",
          }),
        },
        { description: "The retries of calls for the model." },
      ),
    ),
    circuit_breaker: open(
      {
        enabled: Type.Boolean(),
        failures: Type.Integer(),
        cooldown_ms: Type.Integer(),
        longest_cooldown_ms: Type.Integer(),
        policy: Type.Record(Type.String(), Type.Integer()),
      },
      { description: "When weir skips the deployment of `served_by`, and how long." },
    ),
    candidates: Type.Array(
      open({
        provider: Type.String(),
        pattern: Type.String(),
        model: Type.String(),
        source: Type.String(),
        reason: Type.String(),
        wins: Type.Boolean(),
      }),
      { description: "The providers whose model patterns match the name." },
    ),
    request: nullable(
      open({
        method: Type.String(),
        url: Type.String(),
        headers: Type.Record(Type.String(), Type.String(), {
          description: "With the names of variables in place of credentials.",
        }),
        body: nullable(anyObject()),
        changed: Type.Optional(
          Type.Array(Type.String(), { description: "Native lane: the members that weir changes." }),
        ),
      }),
      { description: "What weir would send to the provider; null for a program." },
    ),
    requests: Type.Optional(
      Type.Integer({
        description: "Embeddings: the number of requests that weir would send; `request` is the first.",
      }),
    ),
    stored: Type.Optional(
      open(
        {
          added_items: Type.Integer({ description: "Stored items that weir adds to the request." }),
          only_at: nullable(Type.String(), {
            description: "The only deployment that can continue the answer.",
          }),
          stored_by: nullable(words("weir", "provider"), { description: "Who would store the answer." }),
        },
        { description: "What stored answers mean for the request; absent for formats without them." },
      ),
    ),
    losses: Type.Array(
      open({
        code: words(
          "dropped",
          "clamped",
          "downgraded",
          "converted",
          "repaired",
          "synthesized",
          "substituted",
          "unknown",
        ),
        path: Type.String(),
        note: Type.Optional(Type.String()),
      }),
      { description: "The parts of the request that the provider would not get unchanged." },
    ),
  },
  { title: "Explanation" },
);

const dollars = (what: string) => Type.Optional(Type.Number({ description: `${what} Dollars.` }));
const subject = () => words("key", "path", "tag", "model", "provider", "session", "all");
const list = () => Type.Optional(Type.Array(Type.String()));

export const OwnKey = open(
  {
    id: Type.String(),
    name: Type.String(),
    path: Type.String(),
    scopes: open(
      {
        ...{ models: list(), providers: list(), endpoints: list(), addresses: list() },
        max_tokens: Type.Optional(Type.Integer({ description: "Most output tokens of one call." })),
        max_cost: dollars("Most that one call may cost."),
        server_tools: Type.Boolean({ description: "Whether the provider may run tools by itself." }),
      },
      { description: "What the key may use; an absent member permits everything." },
    ),
    expires_at: nullable(Type.String({ format: "date-time" })),
    limits: Type.Array(
      open({
        name: Type.String(),
        on: subject(),
        unit: words("rpm", "tpm", "itpm", "otpm", "rpd", "tpd", "concurrency"),
        limit: Type.Number(),
        left: Type.Optional(
          Type.Number({
            description: "Absent where clients must not see it, and where several gateways share the limit.",
          }),
        ),
      }),
      { description: "The rate limits that count calls of the key." },
    ),
    budgets: Type.Array(
      open({
        name: Type.String(),
        on: subject(),
        window: Type.String({ description: "`day`, `week`, `month`, `total`, or hours such as `5h`." }),
        zone: Type.String(),
        resets_at: nullable(Type.String({ format: "date-time" })),
        limit: dollars("Absent for a budget that keys of other paths share."),
        spent: dollars("Absent for a budget that keys of other paths share."),
        left: dollars("Absent where clients must not see it."),
      }),
      { description: "The budgets that count calls of the key." },
    ),
    usage: Type.Optional(
      open(
        {
          from: Type.String({ format: "date-time", description: "The beginning of an hour, a day ago." }),
          models: Type.Array(
            open({
              model: nullable(Type.String(), { description: "null: calls that reached no provider." }),
              calls: Type.Integer(),
              tokens: open({
                input: Type.Integer({ description: "With what was read from a cache or written to it." }),
                output: Type.Integer(),
              }),
              cost: Type.Number({ description: "Dollars." }),
            }),
          ),
        },
        { description: "Absent for a caller without a key." },
      ),
    ),
  },
  { title: "OwnKey" },
);

export const OpenApiDocument = open(
  { openapi: Type.String(), info: anyObject(), paths: anyObject() },
  { title: "OpenApiDocument" },
);

export const AnswerDeleted = open(
  { id: Type.String(), object: Type.String(), deleted: Type.Literal(true) },
  { title: "AnswerDeleted" },
);

export const Conversation = open(
  {
    id: Type.String(),
    object: Type.Literal("conversation"),
    created_at: Type.Integer({ description: "Seconds since 1970." }),
    metadata: Type.Record(Type.String(), Type.String()),
  },
  { title: "Conversation" },
);

export const ConversationItem = open(
  { id: Type.String(), type: Type.String() },
  { title: "ConversationItem" },
);

export const ItemList = open(
  {
    object: Type.Literal("list"),
    data: Type.Array(open({ id: Type.String() }), {
      description: "The items in the form in which the client sent them.",
    }),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  },
  { title: "ItemList" },
);
