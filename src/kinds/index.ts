/** What models do besides generating text and embedding it. No kind knows another one. */
import type { KnownKind } from "../core/model-kind.ts";
import { cache } from "./cache/index.ts";
import { decision } from "./decision/index.ts";
import { image } from "./image/index.ts";
import { moderation } from "./moderation/index.ts";
import { realtime } from "./realtime/index.ts";
import { rerank } from "./rerank/index.ts";
import { speech } from "./speech/index.ts";
import { transcription } from "./transcription/index.ts";

export const kinds: readonly KnownKind[] = [
  rerank,
  moderation,
  decision,
  image,
  cache,
  realtime,
  speech,
  transcription,
];
