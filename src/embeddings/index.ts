/** The dialects of embeddings. No dialect knows another one; the canonical request is `EmbedRequest` in `core/embed.ts`. */
import type { EmbedDialect } from "../core/embed-dialect.ts";
import { openaiEmbeddings } from "./openai.ts";

export const dialects: readonly EmbedDialect[] = [openaiEmbeddings];
