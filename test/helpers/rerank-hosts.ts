/** Fake hosts that rank documents, each in the dialect of its vendor. A document says its own score: `0.9000 text`. */
import type { JsonObject } from "../../src/core/json.ts";
import { type Handler, json } from "./upstream.ts";

export const bodyOf = (request: { body: Uint8Array }) =>
  JSON.parse(Buffer.from(request.body).toString()) as JsonObject;

/** The number at the beginning of a document, as it is written. */
const scoreIn = (text: unknown) => String(text).split(" ")[0]!;

const ranked = (texts: readonly unknown[]) =>
  texts
    .map((text, index) => ({ index, score: scoreIn(text) }))
    .toSorted((one, other) => Number(other.score) - Number(one.score));

/** JSON text with scores as the documents have them: `1e-05` is no text that `JSON.stringify` writes. */
const items = (found: ReturnType<typeof ranked>, name: string) =>
  `[${found.map(({ index, score }) => `{"index":${index},"${name}":${score}}`).join(",")}]`;

const sent = (text: string) => ({ ...json({}), body: text });

const top = (body: JsonObject, name: string) => (body[name] ?? Infinity) as number;

export const cohere: Handler = (request) => {
  const body = bodyOf(request);
  const results = ranked(body["documents"] as unknown[]).slice(0, top(body, "top_n"));
  return sent(
    `{"id":"c-1","results":${items(results, "relevance_score")},"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":3}}}`,
  );
};

export const jina: Handler = (request) => {
  const body = bodyOf(request);
  const results = ranked(body["documents"] as unknown[]).slice(0, top(body, "top_n"));
  return sent(`{"model":"j","usage":{"total_tokens":77},"results":${items(results, "relevance_score")}}`);
};

export const voyage: Handler = (request) => {
  const body = bodyOf(request);
  const results = ranked(body["documents"] as unknown[]).slice(0, top(body, "top_k"));
  return sent(
    `{"object":"list","data":${items(results, "relevance_score")},"model":"v","usage":{"total_tokens":55}}`,
  );
};

/** Ranks all, as the real one does. */
export const tei: Handler = (request) => sent(items(ranked(bodyOf(request)["texts"] as unknown[]), "score"));

export const vllmScore: Handler = (request) => {
  const found = (bodyOf(request)["text_2"] as unknown[]).map((text, index) => ({
    index,
    score: scoreIn(text),
  }));
  return sent(
    `{"id":"s","object":"list","data":${items(found, "score")},"model":"s","usage":{"prompt_tokens":9,"total_tokens":9}}`,
  );
};
