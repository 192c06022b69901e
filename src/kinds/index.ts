/** What models do besides generating text and embedding it. No kind knows another one. */
import type { ModelKind } from "../core/model-kind.ts";
import { decision } from "./decision/index.ts";
import { moderation } from "./moderation/index.ts";
import { rerank } from "./rerank/index.ts";

export const kinds: readonly ModelKind[] = [rerank, moderation, decision];
