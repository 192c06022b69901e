/** Exchanges of embeddings, made by hand in the form of recordings: one of each kind of dialect. */
import type { Recording } from "../helpers/recordings.ts";

type Value = Record<string, unknown>;

function made(
  id: string,
  vendor: string,
  model: string,
  request: Value,
  answer: Value,
  status = 200,
): Recording {
  return {
    ...{ id: `embeddings-${id}`, vendor, api: "embeddings", model, stream: false, framing: "json" },
    ...{ fidelity: "made", tags: [], source: { repo: "fixtures", path: id, index: 0, of: 1 } },
    request: { method: "POST", path: "/", headers: {}, body: request },
    response: { status, headers: {}, body: JSON.stringify(answer) },
  };
}

const SNOW = [0.25, -0.5, 0.75, 0.125];
const MIST = [-0.25, 0.5, 1, -0.125];

const base64 = (vector: readonly number[]) => Buffer.from(new Float32Array(vector).buffer).toString("base64");

const openai = (vectors: readonly unknown[]) => ({
  object: "list",
  // Not in the order of the inputs.
  data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })).toReversed(),
  model: "text-embedding-3-small",
  usage: { prompt_tokens: 7, total_tokens: 7 },
});

const input = ["Snow in Oslo.", "Mist in Lima."];

export const EMBEDDING_FIXTURES: readonly Recording[] = [
  made(
    "numbers",
    "openai",
    "text-embedding-3-small",
    { model: "text-embedding-3-small", input },
    openai([SNOW, MIST]),
  ),
  made(
    "base64",
    "openai",
    "text-embedding-3-small",
    { model: "text-embedding-3-small", input, encoding_format: "base64" },
    openai([base64(SNOW), base64(MIST)]),
  ),
  made(
    "no-model",
    "openai",
    "no-model",
    { model: "no-model", input },
    {
      error: {
        message: "The model does not exist.",
        type: "invalid_request_error",
        param: null,
        code: "model_not_found",
      },
    },
    404,
  ),
  made(
    "google",
    "gemini",
    "gemini-embedding-001",
    {},
    { embeddings: [{ values: SNOW }, { values: MIST }], usageMetadata: { promptTokenCount: 7 } },
  ),
  made(
    "cohere",
    "cohere",
    "embed-v4.0",
    {},
    {
      id: "1",
      texts: input,
      embeddings: { float: [SNOW, MIST] },
      meta: { billed_units: { input_tokens: 7 } },
    },
  ),
];
