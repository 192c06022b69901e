/** Texts that a voice reads. */
import type { ModelKind } from "../../core/model-kind.ts";
import type { SpeechAnswer, SpeechRequest } from "../../core/speech.ts";
import { openaiSpeech } from "./dialect.ts";
import { speechRoute } from "./route.ts";
import { sizeOfSpeech } from "./size.ts";

export const speech: ModelKind<SpeechRequest, SpeechAnswer> = {
  id: "speech",
  lacks: "makes no speech",
  mock: "speech",
  gives: ["audio"],
  routes: [speechRoute],
  dialects: [openaiSpeech],
  repeats: "unsent",
  sizeOf: sizeOfSpeech,
  complete: (answer) => answer,
};
