/** The kinds of content that models take and give. */
import type { Modality } from "./model-facts.ts";

export const MODALITIES: readonly Modality[] = ["text", "image", "audio", "video", "file", "embedding"];
