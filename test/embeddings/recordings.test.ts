/** Recorded answers of embeddings: every one is decoded to the vectors that it holds, and reaches clients in both encodings. */
import { describe, expect, test } from "bun:test";
import type { EmbedClient, EmbedDialect } from "../../src/core/embed-dialect.ts";
import type { EmbedEndpoint, EmbedRequest } from "../../src/core/embed.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { isObject, parseJson } from "../../src/core/json.ts";
import { dialects } from "../../src/embeddings/index.ts";
import { embeds } from "../../src/formats/chat-completions/client/embed.ts";
import { fromBase64 } from "../../src/formats/shared/floats.ts";
import {
  answerBytes,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
} from "../helpers/recordings.ts";

const client: EmbedClient = embeds[0]!;
const byId = new Map(dialects.map((dialect) => [dialect.id, dialect]));

/** Vendors whose answers are not in OpenAI's dialect. */
const DIALECTS: Readonly<Record<string, string>> = { cohere: "cohere-embed", gemini: "gemini-embed" };

/** The dialect of a model of Bedrock. */
function dialectOfModel(model: string): string {
  if (model.includes("titan")) return "titan-embed";
  return model.includes("cohere") ? "cohere-invoke" : "nova-embed";
}

const isEmbedding = ({ model }: Recording) => /embed/.test(model ?? "");
const invoked = recordings({ api: "bedrock_invoke" }).filter(isEmbedding);
/** Ollama's own API, which weir does not use: the same server speaks OpenAI's dialect. */
const isOllamas = (recording: Recording) => recording.vendor === "ollama";
const all = [...recordings({ api: "embeddings" }), ...invoked].filter((one) => !isOllamas(one));

function dialectOf({ vendor, model }: Recording): EmbedDialect {
  const id = vendor === "bedrock" ? dialectOfModel(model!) : (DIALECTS[vendor] ?? "embeddings");
  return byId.get(id)!;
}

const endpointOf = ({ vendor }: Recording): EmbedEndpoint => ({
  path: "/",
  ...(vendor === "perplexity" && { base64: "int8" }),
});

/** The vectors of an answer by a walk of its own: each list of numbers, and each long text of base64. */
function vectorsIn(value: Json | undefined, vendor: string): number[][] {
  if (typeof value === "string") {
    if (value.length < 40 || !/^[A-Za-z0-9+/]+=*$/.test(value)) return [];
    const bytes = Buffer.from(value, "base64");
    if (vendor === "perplexity") return [Array.from(bytes, (byte) => (byte > 127 ? byte - 256 : byte))];
    return [Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))];
  }
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every((item) => typeof item === "number")) return [value];
    return value.flatMap((item) => vectorsIn(item, vendor));
  }
  // Titan sends each vector twice.
  return isObject(value)
    ? Object.entries(value).flatMap(([name, member]) =>
        ["embeddingsByType", "texts", "id"].includes(name) ? [] : vectorsIn(member, vendor),
      )
    : [];
}

const request = (encoding: EmbedRequest["encoding"]): EmbedRequest => ({
  model: "m",
  inputs: ["a"],
  pathOf: String,
  encoding,
  extra: {},
});

/** Greatest difference of two lists of vectors. */
function difference(found: readonly ArrayLike<number>[], wanted: readonly number[][]): number {
  expect(found.map(({ length }) => length)).toEqual(wanted.map(({ length }) => length));
  let most = 0;
  found.forEach((vector, at) =>
    wanted[at]!.forEach((value, index) => (most = Math.max(most, Math.abs(vector[index]! - value)))),
  );
  return most;
}

if (!haveRecordings) test.skip(NO_RECORDINGS, () => {});

describe("recorded answers", () => {
  const answered = all.filter(({ response }) => response.status === 200);
  for (const recording of answered) {
    const { id, vendor, model, response } = recording;
    test(`${vendor} ${model} ${id}`, () => {
      const bytes = answerBytes(recording);
      const body = parseJson(bytes.toString()) as JsonObject;
      const wanted = vectorsIn(body, vendor);
      const dialect = dialectOf(recording);
      const single = isObject(body.embedding) ? { ...body, embeddings: [body.embedding] } : body;
      const answer = dialect.readAnswer(single, new Headers(response.headers), endpointOf(recording))!;
      expect(wanted.length).toBeGreaterThan(0);
      expect(difference(answer.vectors, wanted)).toBe(0);

      const usage = { input: 1, ...answer.usage };
      const whole = { vectors: answer.vectors, usage, model: "m" };
      const written = (encoding: EmbedRequest["encoding"]) =>
        (JSON.parse(client.writeAnswer(whole, request(encoding), 0)) as { data: { embedding: never }[] })
          .data;
      expect(
        difference(
          written("float").map(({ embedding }) => embedding),
          wanted,
        ),
      ).toBe(0);
      const floats = written("base64").map(({ embedding }) => fromBase64(embedding)!);
      expect(difference(floats, wanted)).toBeLessThan(1e-7);

      const observed = dialect.native?.observe(bytes);
      if (dialect.native) expect([observed?.count, observed?.usage]).toEqual([wanted.length, answer.usage]);
    });
  }

  if (haveRecordings)
    test("are not fewer than were published", () => {
      expect(answered.length).toBeGreaterThanOrEqual(70);
      expect(new Set(answered.map((recording) => dialectOf(recording).id)).size).toBe(6);
    });
});

describe("recorded requests of OpenAI's dialect", () => {
  for (const recording of all) {
    const { id, vendor, request: sent } = recording;
    if (!sent?.body || vendor in DIALECTS || vendor === "bedrock") continue;
    test(`${vendor} ${id} is valid`, () => {
      const { input_type: _type, output_dtype: _dtype, ...body } = sent.body as JsonObject;
      client.checkRequest(body);
      expect(client.decodeRequest(body).inputs.length).toBeGreaterThan(0);
    });
  }
});

describe("recorded errors", () => {
  for (const recording of all.filter(({ response }) => response.status >= 400)) {
    const { id, vendor, response } = recording;
    test(`${vendor} ${response.status} ${id}`, () => {
      const text = answerBytes(recording).toString();
      const error = dialectOf(recording).decodeError(response.status, new Headers(response.headers), text);
      const wanted =
        response.status === 401
          ? ["upstream-auth"]
          : response.status === 404
            ? ["not-found"]
            : // llama.cpp refuses an input that is too long with 500.
              ["invalid-request"];
      expect(wanted).toContain(error.kind);
      expect(error.message).not.toMatch(/^The provider failed/);
    });
  }
});
