/** Requests for embeddings: `POST /api/embed`, and the older `POST /api/embeddings` with one text. */
import { Type } from "@sinclair/typebox";
import type { EmbedClient } from "../../../core/embed-dialect.ts";
import type { EmbedRequest } from "../../../core/embed.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { anything, count, open, optional, toJson } from "../../shared/schema.ts";
import { fault, firstFault, misspelled } from "../../shared/request-fault.ts";
import { MACHINE } from "../../shared/silent.ts";
import { silent, Vocabulary } from "../../shared/vocabulary.ts";

const DIALECT = "ollama-embed";

/** Members that only concern the machine that runs a local model; they have no effect. */
const machine = {
  options: silent(MACHINE, anything()),
  keep_alive: silent(MACHINE, Type.Union([Type.String(), Type.Number()])),
};

const EmbedBody = open({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })]),
  dimensions: optional(Type.Integer({ minimum: 1 })),
  truncate: optional(
    Type.Boolean({ description: "Of no effect: a provider refuses or cuts off a text that is too long." }),
  ),
  ...machine,
});

const EmbeddingsBody = open({ model: Type.String({ minLength: 1 }), prompt: Type.String(), ...machine });

const EmbedAnswer = open({
  model: Type.String(),
  embeddings: Type.Array(Type.Array(Type.Number())),
  total_duration: count({ description: "Nanoseconds." }),
  load_duration: count({ description: "0, because weir loads no models." }),
  prompt_eval_count: count(),
});

const EmbeddingsAnswer = open({ embedding: Type.Array(Type.Number()) });

const VOCABULARY = new Vocabulary(EmbedBody, EmbeddingsBody);

/** Checks all members but the text, whose faults `checkText` names. */
function checkWith(schema: typeof EmbedBody | typeof EmbeddingsBody, checkText: (body: JsonObject) => void) {
  return (body: Json): void => {
    if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
    const misspelling = VOCABULARY.findMisspelled(body);
    if (misspelling) throw misspelled(misspelling);
    checkText(body);
    const wrong = firstFault(schema, body, "");
    if (wrong) throw wrong;
  };
}

function checkInput({ input }: JsonObject): void {
  if (!Array.isArray(input)) return;
  if (input.length === 0) throw fault("input", "at least one text");
  const wrong = input.findIndex((text) => typeof text !== "string");
  if (wrong >= 0) throw fault(`input[${wrong}]`, "a text");
}

function decode(body: JsonObject, member: "input" | "prompt"): EmbedRequest {
  const given = body[member] as string | string[];
  return {
    model: String(body.model),
    inputs: Array.isArray(given) ? given : [given],
    pathOf: (part) =>
      typeof part === "string" ? part : Array.isArray(given) ? `${member}[${part}]` : member,
    ...(typeof body.dimensions === "number" && { dimensions: body.dimensions }),
    encoding: "float",
    extra: body.truncate == null ? {} : { truncate: body.truncate },
    leftOut: [...VOCABULARY.leftOut(body, false)],
  };
}

export const embeds: readonly EmbedClient[] = [
  {
    dialect: DIALECT,
    operation: "embedOllama",
    path: "/api/embed",
    schemas: { request: toJson(EmbedBody), answer: toJson(EmbedAnswer) },
    checkRequest: checkWith(EmbedBody, checkInput),
    decodeRequest: (body) => decode(body, "input"),
    writeAnswer: ({ vectors, usage, model }, _request, startedAt) =>
      JSON.stringify({
        model,
        embeddings: vectors.map((vector) => Array.from(vector)),
        total_duration: Math.round((performance.now() - startedAt) * 1e6),
        load_duration: 0,
        prompt_eval_count: usage.input,
      }),
  },
  {
    dialect: DIALECT,
    operation: "embedOllamaPrompt",
    path: "/api/embeddings",
    schemas: { request: toJson(EmbeddingsBody), answer: toJson(EmbeddingsAnswer) },
    checkRequest: checkWith(EmbeddingsBody, () => {}),
    decodeRequest: (body) => decode(body, "prompt"),
    writeAnswer: ({ vectors }) => JSON.stringify({ embedding: Array.from(vectors[0]!) }),
  },
];
