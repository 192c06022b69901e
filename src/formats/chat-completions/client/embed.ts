/** Requests for embeddings (`POST /v1/embeddings`): their check, decoding, and the answer. */
import { Type } from "@sinclair/typebox";
import type { EmbedClient, WholeAnswer } from "../../../core/embed-dialect.ts";
import type { EmbedInput, EmbedRequest } from "../../../core/embed.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { toBase64 } from "../../shared/floats.ts";
import { count, open, optional, toJson } from "../../shared/schema.ts";
import { fault, firstFault, missing, misspelled } from "../../shared/request-fault.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";

/** As many as OpenAI accepts. */
const MAX_INPUTS = 2048;

const tokenIds = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 });

const EmbeddingsRequest = open({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([
    Type.String(),
    Type.Array(Type.String(), { minItems: 1, maxItems: MAX_INPUTS }),
    tokenIds,
    Type.Array(tokenIds, { minItems: 1, maxItems: MAX_INPUTS }),
  ]),
  encoding_format: optional(Type.Union([Type.Literal("float"), Type.Literal("base64")])),
  dimensions: optional(Type.Integer({ minimum: 1 })),
  input_type: optional(
    Type.String({ description: "What the vectors are for: `query`, `document`. OpenAI has no such member." }),
  ),
  user: optional(Type.String()),
});

const EmbeddingsAnswer = open({
  object: Type.Literal("list"),
  data: Type.Array(
    open({
      object: Type.Literal("embedding"),
      index: Type.Integer(),
      embedding: Type.Union([
        Type.Array(Type.Number()),
        Type.String({ description: "Base64 of little-endian 32-bit floats." }),
      ]),
    }),
  ),
  model: Type.String(),
  usage: Type.Optional(open({ prompt_tokens: count(), total_tokens: count() })),
});

const VOCABULARY = new Vocabulary(EmbeddingsRequest);

/** The members but `input`, whose faults `checkInput` names. */
const Options = open({ ...EmbeddingsRequest.properties, input: Type.Optional(Type.Unknown()) });

function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const misspelling = VOCABULARY.findMisspelled(body);
  if (misspelling) throw misspelled(misspelling);
  const wrong = firstFault(Options, { ...body, input: null }, "");
  if (wrong) throw wrong;
  checkInput(body.input);
}

function checkInput(input: Json | undefined): void {
  if (input == null) throw missing("input");
  if (typeof input === "string") return;
  if (!Array.isArray(input)) throw fault("input", "a text, a list of texts, or token ids");
  const [first] = input;
  if (first === undefined) throw fault("input", "at least one text");
  if (typeof first === "number") return checkIds(input, "input");
  if (input.length > MAX_INPUTS) throw fault("input", `at most ${MAX_INPUTS} texts`);
  input.forEach((item, index) => {
    if (Array.isArray(first)) checkIds(item, `input[${index}]`);
    else if (typeof item !== "string") throw fault(`input[${index}]`, "a text");
  });
}

function checkIds(ids: Json, path: string): void {
  if (!Array.isArray(ids) || ids.length === 0) throw fault(path, "a list of token ids");
  const wrong = ids.findIndex((id) => !Number.isInteger(id) || (id as number) < 0);
  if (wrong >= 0) throw fault(`${path}[${wrong}]`, "a token id");
}

function decodeRequest(body: JsonObject): EmbedRequest {
  const { dimensions, input_type: inputType, user } = body;
  const extra = Object.entries(body).filter(
    ([name, value]) => !Object.hasOwn(EmbeddingsRequest.properties, name) && value !== null,
  );
  return {
    model: body.model as string,
    inputs: isList(body.input) ? (body.input as EmbedInput[]) : [body.input as EmbedInput],
    pathOf: (part) =>
      typeof part === "string" ? PATHS[part] : isList(body.input) ? `input[${part}]` : "input",
    dimensions: (dimensions as number | null) ?? undefined,
    inputType: (inputType as string | null) ?? undefined,
    user: (user as string | null) ?? undefined,
    encoding: body.encoding_format === "base64" ? "base64" : "float",
    extra: Object.fromEntries(extra),
  };
}

const PATHS = { dimensions: "dimensions", inputType: "input_type", user: "user" };

/** Several inputs: a list of token ids is one. */
function isList(input: Json | undefined): boolean {
  return Array.isArray(input) && typeof input[0] !== "number";
}

function writeAnswer({ vectors, usage, model }: WholeAnswer, { encoding }: EmbedRequest): string {
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: encoding === "base64" ? toBase64(vector) : Array.from(vector),
  }));
  const tokens = { prompt_tokens: usage.input, total_tokens: usage.input };
  return JSON.stringify({ object: "list", data, model, usage: tokens });
}

const embeddings: EmbedClient = {
  dialect: "embeddings",
  operation: "createEmbeddings",
  path: "/v1/embeddings",
  schemas: { request: toJson(EmbeddingsRequest), answer: toJson(EmbeddingsAnswer) },
  checkRequest,
  decodeRequest,
  writeAnswer,
};

export const embeds: readonly EmbedClient[] = [embeddings];
