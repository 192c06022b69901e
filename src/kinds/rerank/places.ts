/** Where the texts of rerank requests and answers are. */
import { each, ID, NUMBER, TEXT, textPlaces, WORD } from "../../formats/shared/text-places.ts";

const DOCUMENT = {
  members: { ...each(TEXT, "text"), ...each({ kind: "media" as const }, "image image_url") },
};

export const places = textPlaces({
  request: {
    members: {
      ...each(ID, "model"),
      ...each(NUMBER, "top_n top_k max_tokens_per_doc max_chunks_per_doc priority"),
      ...each(WORD, "return_documents return_text truncation truncate raw_scores rank_fields"),
      ...each(TEXT, "query texts text_1 text_2"),
      documents: DOCUMENT,
    },
  },
  answer: {
    members: {
      ...each(ID, "id model object"),
      ...each(NUMBER, "index relevance_score score created usage meta"),
      results: { members: { ...each(NUMBER, "index relevance_score score"), document: DOCUMENT } },
      data: { members: { ...each(NUMBER, "index relevance_score score"), document: DOCUMENT, object: WORD } },
    },
  },
  // No answer is a stream.
  stopped: () => [],
});
