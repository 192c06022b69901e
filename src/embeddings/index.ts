/** The dialects of embeddings. No dialect knows another one; the canonical request is `EmbedRequest` in `core/embed.ts`. */
import type { EmbedDialect } from "../core/embed-dialect.ts";
import { cohereEmbeddings, cohereInvoke } from "./cohere.ts";
import { geminiEmbeddings, vertexEmbeddings } from "./gemini.ts";
import { novaEmbeddings } from "./nova.ts";
import { openaiEmbeddings } from "./openai.ts";
import { titanEmbeddings } from "./titan.ts";

export const dialects: readonly EmbedDialect[] = [
  openaiEmbeddings,
  cohereEmbeddings,
  cohereInvoke,
  geminiEmbeddings,
  vertexEmbeddings,
  titanEmbeddings,
  novaEmbeddings,
];
