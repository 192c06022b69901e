/** What a rerank request may use at most. */
import type { RequestSize } from "../../core/ledger.ts";
import type { RerankRequest } from "../../core/rerank.ts";
import { IMAGE_TOKENS } from "../../core/tokens/image-tokens.ts";
import { MostTokens, mostTokens, type TextTokens } from "../../core/tokens/most-tokens.ts";

const NOTHING = {
  structure: 0,
  mediaTokens: 0,
  hasTools: false,
  hasServerTools: false,
  maxTokens: 0,
  choices: 1,
};
const NO_TEXT: TextTokens = { words: 0, digits: 0, signs: 0, scripts: 0 };

/** Jina and Voyage count the query once for each document; each pair has a query of its own. */
export function sizeByTokens({ query, pairs, documents }: RerankRequest): RequestSize {
  const asked = new MostTokens();
  asked.add(query);
  const text = new MostTokens();
  let images = 0;
  for (const [index, { text: content, image }] of documents.entries()) {
    if (pairs) text.add(pairs[index]!);
    else text.addCounted(asked);
    text.next();
    if (content !== undefined) text.add(content);
    if (image !== undefined) images++;
  }
  return { ...NOTHING, text, structure: documents.length * 4, mediaTokens: images * IMAGE_TOKENS };
}

/** Documents of one search unit, and the tokens of a document from which on Cohere counts it as several. */
const SEARCH_DOCUMENTS = 100;
const CHUNK_TOKENS = 500;

/** Cohere charges a search for each hundred documents; the query counts to each of them. */
export function sizeBySearches({ query, documents }: RerankRequest): RequestSize {
  const asked = mostTokens(query);
  const chunks = documents.reduce(
    (sum, { text = "" }) => sum + Math.max(1, Math.ceil((asked + mostTokens(text)) / CHUNK_TOKENS)),
    0,
  );
  return { ...NOTHING, text: NO_TEXT, units: { search: Math.ceil(chunks / SEARCH_DOCUMENTS) } };
}
