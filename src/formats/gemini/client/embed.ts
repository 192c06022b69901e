/**
 * Requests for embeddings: `embedContent` for one text, `batchEmbedContents` for several. Members may be written in both
 * spellings of Protobuf, as in other requests.
 */
import { Type } from "@sinclair/typebox";
import type { EmbedClient, WholeAnswer } from "../../../core/embed-dialect.ts";
import type { EmbedRequest } from "../../../core/embed.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { count, open, optional, toJson } from "../../shared/schema.ts";
import { named, names, Vocabulary } from "../../shared/vocabulary.ts";
import { pathOf } from "./address.ts";
import { fault, missing } from "../../shared/request-fault.ts";

/** As many as clients of other formats may send. */
const MAX_INPUTS = 2048;

const Content = named(open({ parts: Type.Array(open({ text: Type.String() }), { minItems: 1 }) }), {
  silent: { role: "a text to embed has no role" },
});

const NAMES = ["taskType", "outputDimensionality", "title"] as const;
const SNAKE = "task_type output_dimensionality";
const Config = names(`${NAMES.join(" ")} ${SNAKE}`);

const checked = open({
  model: optional(Type.String()),
  content: Content,
  taskType: optional(Type.String({ description: "`RETRIEVAL_QUERY`, `RETRIEVAL_DOCUMENT`, …" })),
  title: optional(Type.String()),
  outputDimensionality: optional(Type.Integer({ minimum: 1 })),
  config: optional(Config),
});
const Entry = named(checked, {
  read: SNAKE,
  inner: { embedContentConfig: Config, embed_content_config: Config },
});
const Batch = open({ requests: Type.Array(Entry) });

const ENTRY = new Vocabulary(Entry);
const BATCH = new Vocabulary(named(Batch, "model"));

const Vector = open({ values: Type.Array(Type.Number()) });
const Usage = open({ promptTokenCount: count() });

/** The texts of a request with their paths, and the options that all of them share. */
interface Read {
  texts: string[];
  paths: string[];
  options: JsonObject;
}

/** @param entries the single requests @param pathOfEntry of each in the client's request; empty for the body */
function read(entries: readonly JsonObject[], pathOfEntry: (index: number) => string): Read {
  const found: Read = { texts: [], paths: [], options: {} };
  for (const [index, entry] of entries.entries()) {
    const prefix = pathOfEntry(index);
    const path = `${prefix}content`;
    found.texts.push(textOf(entry.content, path));
    found.paths.push(path);
    const options = optionsOf(entry, prefix);
    if (index === 0) found.options = options;
    for (const name of NAMES)
      if (options[name] !== found.options[name])
        throw fault(`${prefix}${name}`, "the same value in every request of the batch");
  }
  return found;
}

/** The options of one request; newer SDKs put them into `config`. */
function optionsOf(entry: JsonObject, prefix: string): JsonObject {
  const inner = entry.config ?? entry.embedContentConfig ?? entry.embed_content_config;
  const all = { ...entry, ...(isObject(inner) && inner) };
  const options = {
    taskType: all.taskType ?? all.task_type ?? null,
    outputDimensionality: all.outputDimensionality ?? all.output_dimensionality ?? null,
    title: all.title ?? null,
  };
  const { taskType, outputDimensionality: dimensions } = options;
  if (taskType !== null && typeof taskType !== "string") throw fault(`${prefix}taskType`, "a text");
  if (dimensions !== null && !(Number.isInteger(dimensions) && (dimensions as number) > 0))
    throw fault(`${prefix}outputDimensionality`, "a positive integer");
  return options;
}

/** The text of a content. @throws GatewayError for a part that is no text */
function textOf(content: Json | undefined, path: string): string {
  if (content == null) throw missing(path);
  const parts = isObject(content) ? content.parts : undefined;
  if (!Array.isArray(parts) || parts.length === 0) throw fault(`${path}.parts`, "at least one text");
  const texts = parts.map((part, index) => {
    if (isObject(part) && typeof part.text === "string") return part.text;
    throw invalidRequest(
      `Invalid '${path}.parts[${index}]': weir embeds texts only.`,
      `${path}.parts[${index}]`,
      "unsupported_value",
    );
  });
  return texts.join("");
}

function entriesOf(body: JsonObject): JsonObject[] {
  const { requests } = body;
  if (requests == null) throw missing("requests");
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject))
    throw fault("requests", "a list with at least one request");
  if (requests.length > MAX_INPUTS) throw fault("requests", `at most ${MAX_INPUTS} requests`);
  return requests;
}

function decode(body: JsonObject, { texts, paths, options }: Read, prefix: string): EmbedRequest {
  const { taskType, outputDimensionality, title } = options;
  const names = { dimensions: "outputDimensionality", inputType: "taskType", user: "user" };
  return {
    model: body.model as string,
    inputs: texts,
    pathOf: (part) => (typeof part === "number" ? paths[part]! : prefix + names[part]),
    dimensions: (outputDimensionality as number | null) ?? undefined,
    inputType: (taskType as string | null) ?? undefined,
    encoding: "float",
    extra: title == null ? {} : { title },
    leftOut: [...(body.requests == null ? ENTRY : BATCH).leftOut(body, false)],
  };
}

const readOne = (body: JsonObject) => read([body], () => "");
const readBatch = (body: JsonObject) => read(entriesOf(body), (index) => `requests[${index}].`);

const values = (vector: ArrayLike<number>) => ({ values: Array.from(vector) });
const usageOf = ({ usage }: WholeAnswer) => ({ usageMetadata: { promptTokenCount: usage.input } });

function checkWith(check: (body: JsonObject) => void): EmbedClient["checkRequest"] {
  return (body) => {
    if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
    check(body);
  };
}

/** The dialect of providers that are asked by `batchEmbedContents`. */
const DIALECT = "gemini-embed";

export const embeds: readonly EmbedClient[] = [
  {
    dialect: DIALECT,
    operation: "embedGeminiContents",
    path: pathOf("batchEmbedContents"),
    schemas: {
      request: toJson(Batch),
      answer: toJson(open({ embeddings: Type.Array(Vector), usageMetadata: Type.Optional(Usage) })),
    },
    checkRequest: checkWith(readBatch),
    decodeRequest: (body) => decode(body, readBatch(body), "requests[0]."),
    writeAnswer: (answer) => JSON.stringify({ embeddings: answer.vectors.map(values), ...usageOf(answer) }),
  },
  {
    dialect: DIALECT,
    operation: "embedGeminiContent",
    path: pathOf("embedContent"),
    schemas: {
      request: toJson(Entry),
      answer: toJson(open({ embedding: Vector, usageMetadata: Type.Optional(Usage) })),
    },
    checkRequest: checkWith(readOne),
    decodeRequest: (body) => decode(body, readOne(body), ""),
    writeAnswer: (answer) => JSON.stringify({ embedding: values(answer.vectors[0]!), ...usageOf(answer) }),
  },
];
