/** What every answer to a rerank request must be: each index once, best first, no more than were asked for. */
import { isObject } from "../../core/json.ts";
import { KindFault } from "../../core/model-kind.ts";
import { type RerankAnswer, type RerankRequest, type RerankResult, scoreOf } from "../../core/rerank.ts";

export function completeRerank(answer: RerankAnswer, request: RerankRequest): RerankAnswer {
  const { results } = answer;
  checkResults(results, request);
  const compare = request.inOrder ? byPlace : byScore;
  const isOrdered = results.every((found, place) => place === 0 || compare(results[place - 1]!, found) <= 0);
  const top = request.top ?? results.length;
  const lacksDocuments = request.wantsDocuments && results.some(({ document }) => document === undefined);
  if (isOrdered && results.length <= top && !lacksDocuments) return answer;
  const ordered = isOrdered ? results : results.toSorted(compare);
  const best = ordered.slice(0, top);
  if (!lacksDocuments) return { ...answer, results: best };
  const given = (index: number) => request.documents[index]!.given;
  return {
    ...answer,
    results: best.map((found) => ({ ...found, document: found.document ?? given(found.index) })),
  };
}

/** Descending by score; equal scores in the order of the request. */
function byScore(one: RerankResult, other: RerankResult): number {
  return scoreOf(other.score) - scoreOf(one.score) || one.index - other.index;
}

const byPlace = (one: RerankResult, other: RerankResult) => one.index - other.index;

function checkResults(results: readonly RerankResult[], { documents, top }: RerankRequest): void {
  // A program of a plugin may give anything.
  const given: unknown = results;
  if (!Array.isArray(given) || !given.every(isObject)) throw new KindFault("sent no list of results");
  const seen = new Set<number>();
  for (const { index, score } of results) {
    if (!Number.isInteger(index) || index < 0 || index >= documents.length)
      throw new KindFault(`sent the index ${index} for ${documents.length} documents`);
    if (seen.has(index)) throw new KindFault(`sent the index ${index} twice`);
    if (!Number.isFinite(scoreOf(score))) throw new KindFault("sent a score that is no number");
    seen.add(index);
  }
  const expected = Math.min(top ?? documents.length, documents.length);
  if (results.length < expected)
    throw new KindFault(`sent ${results.length} results, and ${expected} were asked for`);
}
