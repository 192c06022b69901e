/** How hosts are asked for speech: by the request of OpenAI, which all of them have taken over. */
import { NO_USAGE } from "../../core/events.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import type { SpeechAnswer, SpeechRequest } from "../../core/speech.ts";
import { count } from "../../formats/shared/token-counts.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { sizeOfSpeech } from "./size.ts";

export const openaiSpeech: KindDialect<SpeechRequest, SpeechAnswer> = {
  id: "openai-speech",
  sizeOf: sizeOfSpeech,
  encodeRequest({ input, voice, instructions, format, speed, stream }, { target }) {
    return {
      ...{ model: target.model, input, response_format: format },
      ...(voice !== undefined && { voice }),
      ...(instructions !== undefined && { instructions }),
      ...(speed !== undefined && { speed }),
      ...(stream && { stream_format: "sse" }),
    };
  },
  // The answer is never one JSON body.
  readAnswer: () => undefined,
  answersWith: ({ stream }) => (stream ? "events" : "bytes"),
  watch: {
    marks: ["speech.audio.done", '"error"'],
    frame({ data }, seen) {
      const event = typeof data === "string" ? parseJson(data) : undefined;
      if (!isObject(event)) return;
      if (isObject(event["error"])) seen.error = decodeError(502, new Headers(), data as string);
      if (event["type"] !== "speech.audio.done") return;
      seen.terminated = true;
      const usage = isObject(event["usage"]) ? event["usage"] : {};
      const input = count(usage["input_tokens"]);
      const output = count(usage["output_tokens"]) ?? 0;
      if (input === undefined) return;
      seen.usage = { ...NO_USAGE, input, output, audioOut: output, known: "final" };
    },
    answer() {},
  },
  decodeError,
  isErrorBody: ({ error, detail, message }) => (error ?? detail ?? message) !== undefined,
  requestHeaders: ["x-client-request-id", "openai-beta", "accept"],
  answerHeaders: ["x-ratelimit-*", "openai-processing-ms", "retry-after", "retry-after-ms", "x-should-retry"],
};
