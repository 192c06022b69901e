/** Requests of every format and kind, in which canaries are planted: the cases of the repository, and some with all that a schema has. */
import type { JsonObject } from "../../../../core/json.ts";
import { fixturesOf } from "../../../../../test/helpers/fixtures.ts";
import { KIND_ENDPOINTS } from "../../../../../test/helpers/kind-endpoints.ts";
import { RARE } from "../../../../../test/helpers/rare-members.ts";

export interface Asked {
  /** Format or kind, for the table of a run. */
  readonly group: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

const MODEL = "mock/echo";
const GEMINI = `/v1beta/models/${MODEL}:generateContent`;

const PATHS: Readonly<Record<string, string>> = {
  "chat-completions": "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
  gemini: GEMINI,
  ollama: "/api/chat",
  "ollama-generate": "/api/generate",
};

const SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "https://schemas.example/order",
  title: "Order",
  description: "What somebody orders.",
  $comment: "internal",
  type: "object",
  properties: {
    customer: {
      type: "string",
      description: "Who",
      format: "email",
      pattern: "^.+@.+$",
      minLength: 3,
      maxLength: 99,
    },
    size: { type: ["string", "null"], enum: ["small", "large", 3], default: "small", examples: ["large"] },
    count: { type: "integer", minimum: 1, maximum: 99, const: 5, multipleOf: 1 },
    address: { $ref: "#/$defs/address" },
    more: {
      anyOf: [{ type: "string" }, { allOf: [{ type: "object", properties: { deep: { type: "boolean" } } }] }],
    },
    tags: { type: "array", items: { type: "string", contentMediaType: "text/plain" }, minItems: 0 },
  },
  patternProperties: { "^x-": { type: "string" } },
  propertyNames: { pattern: "^[a-z]+$" },
  dependentRequired: { customer: ["address"] },
  required: ["customer", "size"],
  propertyOrdering: ["customer", "size"],
  additionalProperties: false,
  discriminator: { propertyName: "kind", mapping: { order: "#/$defs/address" } },
  $defs: { address: { type: "object", title: "Address", properties: { street: { type: "string" } } } },
};

const ARGUMENTS: JsonObject = {
  customer: "a@b.example",
  count: 12,
  address: { street: "Main" },
  tags: ["x", "y"],
};
const CALLED = { name: "place_order", arguments: JSON.stringify(ARGUMENTS) };

/** A conversation with a tool that has a rich schema, an answer format, and all members about who asks. */
const RICH: Readonly<Record<string, readonly JsonObject[]>> = {
  "chat-completions": [
    {
      messages: [
        { role: "system", content: "You sell things." },
        { role: "user", name: "jane", content: [{ type: "text", text: "Two large ones." }] },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: CALLED }],
        },
        { role: "tool", tool_call_id: "call_1", content: JSON.stringify({ ok: true, id: 1, of: ["a"] }) },
      ],
      tools: [
        { type: "function", function: { name: "place_order", description: "Orders.", parameters: SCHEMA } },
      ],
      tool_choice: { type: "function", function: { name: "place_order" } },
      response_format: {
        type: "json_schema",
        json_schema: { name: "order", description: "It", schema: SCHEMA },
      },
      stop: ["END", "STOP"],
      user: "jane",
      safety_identifier: "jane",
      prompt_cache_key: "jane-1",
      metadata: { team: "sales", ticket: "T-1" },
      seed: 1,
      logit_bias: { "1234": 5 },
      reasoning_effort: "low",
    },
  ],
  messages: [
    {
      max_tokens: 4000,
      system: [{ type: "text", text: "You sell things.", cache_control: { type: "ephemeral", ttl: "5m" } }],
      messages: [
        { role: "user", content: "Two large ones." },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_1", name: "place_order", input: ARGUMENTS }],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_1",
              content: [{ type: "text", text: '{"ok":true,"of":["a"]}' }],
            },
            { type: "image", source: { type: "url", url: "https://pictures.example/a.png" } },
          ],
        },
      ],
      tools: [
        { name: "place_order", description: "Orders.", input_schema: SCHEMA, input_examples: [ARGUMENTS] },
      ],
      tool_choice: { type: "tool", name: "place_order" },
      stop_sequences: ["END"],
      metadata: { user_id: "jane" },
    },
  ],
  responses: [
    {
      instructions: "You sell things.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Two large ones." }] },
        { type: "function_call", id: "fc_1", call_id: "call_1", ...CALLED },
        { type: "function_call_output", call_id: "call_1", output: JSON.stringify({ ok: true, of: ["a"] }) },
        { role: "user", content: [{ type: "input_image", image_url: "https://pictures.example/a.png" }] },
      ],
      tools: [{ type: "function", name: "place_order", description: "Orders.", parameters: SCHEMA }],
      tool_choice: { type: "function", name: "place_order" },
      text: { format: { type: "json_schema", name: "order", schema: SCHEMA } },
      user: "jane",
      safety_identifier: "jane",
      prompt_cache_key: "jane-1",
      metadata: { team: "sales" },
      store: false,
    },
  ],
  gemini: [
    {
      systemInstruction: { parts: [{ text: "You sell things." }] },
      contents: [
        {
          role: "user",
          parts: [
            { text: "Two large ones." },
            { fileData: { mimeType: "image/png", fileUri: "gs://b/a.png" } },
          ],
        },
        { role: "model", parts: [{ functionCall: { name: "place_order", args: ARGUMENTS } }] },
        {
          role: "user",
          parts: [{ functionResponse: { name: "place_order", response: { result: "ok", of: ["a"] } } }],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: "place_order", description: "Orders.", parametersJsonSchema: SCHEMA },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["place_order"] } },
      generationConfig: {
        stopSequences: ["END"],
        responseMimeType: "application/json",
        responseJsonSchema: SCHEMA,
      },
      labels: { team: "sales" },
    },
  ],
  ollama: [
    {
      messages: [
        { role: "user", content: "Two large ones.", images: ["iVBORw0KGgo="] },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ function: { name: "place_order", arguments: ARGUMENTS } }],
        },
        { role: "tool", tool_name: "place_order", content: '{"ok":true}' },
      ],
      tools: [
        { type: "function", function: { name: "place_order", description: "Orders.", parameters: SCHEMA } },
      ],
      format: SCHEMA,
      options: { stop: ["END"], num_ctx: 4096 },
    },
  ],
  "ollama-generate": [
    { prompt: "Two large ones.", system: "You sell.", suffix: "s", template: "t", format: SCHEMA },
  ],
};

const json = (group: string, path: string, body: JsonObject): Asked => ({ group, path, headers: {}, body });

/** Beside the formats above. */
const OTHERS: readonly Asked[] = [
  ...["openai", "cohere", "voyage"].map((vendor) =>
    json(`embeddings (${vendor})`, "/v1/embeddings", {
      model: "mock/embed",
      input: ["a text"],
      user: "jane",
      encoding_format: "float",
    }),
  ),
  json("embeddings (cohere)", "/v2/embed", {
    ...{ model: "mock/embed", texts: ["a text"], input_type: "search_query", embedding_types: ["float"] },
  }),
  json("embeddings (ollama)", "/api/embed", {
    model: "mock/embed",
    input: ["a text"],
    options: { num_ctx: 9 },
  }),
  json("embeddings (gemini)", "/v1beta/models/mock/embed:batchEmbedContents", {
    requests: [{ model: "models/mock/embed", content: { parts: [{ text: "a text" }] }, title: "t" }],
  }),
  json("interactions", "/v1beta/interactions", {
    ...{ model: MODEL, system_instruction: "s", store: false },
    input: [{ type: "user_input", content: [{ type: "text", text: "Two large ones." }] }],
    tools: [{ type: "function", name: "place_order", description: "Orders.", parameters: SCHEMA }],
  }),
  json("count of messages", "/v1/messages/count_tokens", {
    ...{ model: MODEL, system: "s", messages: [{ role: "user", content: "Two large ones." }] },
    tools: [{ name: "place_order", input_schema: SCHEMA }],
  }),
  json("count of gemini", `/v1beta/models/${MODEL}:countTokens`, {
    contents: [{ role: "user", parts: [{ text: "a" }] }],
  }),
  json("cached contents", "/v1beta/cachedContents", {
    ...{ model: "models/mock/cache", displayName: "d", ttl: "60s" },
    contents: [{ role: "user", parts: [{ text: "a" }] }],
  }),
];

/** All of them. The body of each has its model, where the path does not. */
export function allRequests(): Asked[] {
  const formats = Object.entries(PATHS).flatMap(([format, path]) => {
    const fixtures = fixturesOf("requests", format).map(({ text }) => JSON.parse(text) as JsonObject);
    return [...RICH[format]!, ...RARE[format]!, ...fixtures].map((body) =>
      json(
        format,
        path,
        format === "gemini" ? without(body, "model") : { ...body, model: MODEL, stream: false },
      ),
    );
  });
  const kinds = KIND_ENDPOINTS.map(({ name, path, model, body }) =>
    json(name, path, { model, ...body("somebody's text"), user: "jane", metadata: { team: "sales" } }),
  );
  return [...formats, ...kinds, ...OTHERS];
}

function without({ ...body }: JsonObject, name: string): JsonObject {
  delete body[name];
  return body;
}
