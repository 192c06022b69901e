/** The effect when a provider of another format cannot receive a field of an interaction. */
import type { OwnFields } from "../../../core/chat.ts";
import { always, isFull } from "../../shared/own-fields.ts";

export const INTERACTIONS = "interactions";

/** Code of the error by which weir says that a filter or a guard has ended an interaction. */
export const FILTERED = "content_filter";

/** Google runs such interactions after its answer, or has what they name. */
const ELSEWHERE = "only Google's API of interactions can do this, and it cannot be asked";

export const OWN_FIELDS: OwnFields = {
  background: { refuse: (value) => value === true, reason: ELSEWHERE },
  cached_content: { refuse: always },
  continuation_token: { refuse: always },
  environment: { refuse: always, reason: ELSEWHERE },
  webhook_config: { refuse: isFull, reason: ELSEWHERE },
  response_format: { refuse: always, reason: "the answer can only be text" },
  response_mime_type: { report: always },
  response_modalities: {
    refuse: (value) => Array.isArray(value) && value.some((modality) => !/^text$/i.test(String(modality))),
    reason: "the answer can only be text",
  },
  safety_settings: { report: isFull },
  labels: { report: isFull },
  "generation_config.seed": { report: always, means: "seed" },
  "generation_config.tool_choice": { report: always },
  "generation_config.image_config": { report: always },
  "generation_config.speech_config": { report: always },
  "generation_config.transcription_config": { report: always },
  "generation_config.video_config": { report: always },
};
