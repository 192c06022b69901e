/** Ranks documents by the words that they have in common with the query. */
import type { CallView, RerankAnswer, RerankRequest } from "weir";
import { behaveFor } from "./behave.ts";
import { nearness } from "./embed.ts";
import { countTokens } from "./tokens.ts";

/** `mock/rerank` ranks; the models that fail, fail here, too. */
export async function rerank(request: RerankRequest, call: CallView): Promise<RerankAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const { query, pairs, documents } = request;
  const texts = documents.map(({ text = "" }) => text);
  const scores = texts.map((text, index) => ({ index, score: nearness(pairs?.[index] ?? query, text) }));
  return {
    results: scores.toSorted((one, other) => other.score - one.score || one.index - other.index),
    usage: { input: texts.reduce((sum, text) => sum + countTokens(query) + countTokens(text), 0) },
    model: `mock/${model}`,
  };
}
