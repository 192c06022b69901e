/** The chat-completions format (`POST /v1/chat/completions`), which OpenAI and most other vendors speak. */
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import { toJson } from "../shared/schema.ts";
import { decodeError } from "../shared/upstream-error.ts";
import { writeAnswer, writeStream } from "./client/answer.ts";
import { checkRequest, REQUEST } from "./client/check.ts";
import { embeds } from "./client/embed.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { hosted } from "./client/hosted.ts";
import { files } from "./client/files.ts";
import { places } from "./client/places.ts";
import { decodeRequest } from "./client/request.ts";
import { DURATION_RATE_HEADERS } from "../shared/rate-headers.ts";
import { namedSession, promptSections, sessionOf, settings, size } from "./client/facts.ts";
import { modelMembers } from "./client/models.ts";
import { ChatCompletionsAnswer, ChatCompletionsError, ChatCompletionsEvent } from "./answer-schema.ts";
import { ChatCompletionsRequest } from "./schema.ts";
import { modelFacts } from "../shared/openai-models.ts";
import { readAnswer, readStream } from "./upstream/answer.ts";
import { isErrorBody } from "./upstream/errors.ts";
import { fit, mustTranslate, renamedMembers } from "./upstream/fit.ts";
import { factsIn } from "./upstream/listed-model.ts";
import { encodeRequest } from "./upstream/request.ts";
import { watch } from "./upstream/watch.ts";
import { usageRequest } from "./usage.ts";
import { FORMAT } from "./own-fields.ts";

const client: ClientCodec = {
  routes: {
    path: "/v1/chat/completions",
    // Azure's paths; its SDKs write the name of a deployment into the path, and the key into a header of their own.
    bases: ["/openai/v1", "/openai/deployments/{model}"],
    keyHeaders: ["authorization", "x-api-key", "api-key"],
    modelMembers,
    // Without members that a format of another vendor has too: `thinking` is also Anthropic's, `logprobs` also Ollama's.
    clientMembers: [
      ...["stop", "stream_options", "max_completion_tokens", "response_format", "reasoning_effort"],
      ...["frequency_penalty", "presence_penalty", "seed", "n"],
    ],
  },
  request: {
    schema: toJson(ChatCompletionsRequest),
    schemas: {
      answer: toJson(ChatCompletionsAnswer),
      event: toJson(ChatCompletionsEvent),
      terminator: "[DONE]",
      error: toJson(ChatCompletionsError),
    },
    checkRequest,
    judgedByOutline: true,
  },
  codec: {
    decodeRequest,
    leftOut: (body, sameFormat) => REQUEST.leftOut(body, sameFormat),
    writeStream,
    writeAnswer,
    encodeError,
    encodeStreamError,
    framing: {
      // An SSE comment: the OpenAI SDK parses the data of every named event as JSON.
      heartbeat: ": keepalive\n\n",
    },
  },
  facts: {
    files,
    places,
    namedSession,
    sessionOf,
    promptSections,
    rateHeaders: DURATION_RATE_HEADERS,
    size,
    settings,
  },
  beside: { embeds, hosted },
};

const upstream: UpstreamCodec = {
  address: {
    endpoint: { path: "/chat/completions", embeds: { embeddings: "/embeddings" } },
    // Credentials, organisation and project ids are not forwarded.
    requestHeaders: ["openai-beta", "x-client-request-id"],
    answerHeaders: [
      "x-ratelimit-*",
      "openai-processing-ms",
      "openai-version",
      "openai-model",
      "retry-after",
      "retry-after-ms",
      "x-should-retry",
    ],
    models: { modelKind: modelFacts, factsIn },
  },
  codec: { encodeRequest, readStream, readAnswer, decodeError },
  native: { isErrorBody, watch, renamedMembers, mustTranslate, fit, usageRequest },
};

export const chatCompletionsFormat: Format & { client: ClientCodec; upstream: UpstreamCodec } = {
  id: FORMAT,
  client,
  upstream,
};
