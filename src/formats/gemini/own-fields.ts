/** What it means when a provider of another format cannot receive a field of this one (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";

/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "gemini";

/** Who signs the thoughts of this format: Google accepts its own signatures at each of its hosts. */
export const SIGNER = "google";

export const OWN_FIELDS: OwnFields = {};
