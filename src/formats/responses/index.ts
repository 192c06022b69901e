/** The Responses format (`POST /v1/responses`), which OpenAI defined. */
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import { toJson } from "../shared/schema.ts";
import { decodeError } from "../shared/upstream-error.ts";
import { writeAnswer, writeStream } from "./client/answer.ts";
import { checkRequest, REQUEST } from "./client/check.ts";
import { compaction } from "./client/compact.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { hosted } from "./client/hosted.ts";
import { files } from "./client/files.ts";
import { places } from "./client/places.ts";
import { decodeRequest } from "./client/request.ts";
import { DURATION_RATE_HEADERS } from "../shared/rate-headers.ts";
import { namedSession, promptSections, sessionOf, settings, size } from "./client/facts.ts";
import { stored } from "./client/stored.ts";
import { FORMAT } from "./own-fields.ts";
import {
  ResponsesAnswer,
  ResponsesCount,
  ResponsesCountRequest,
  ResponsesError,
  ResponsesEvent,
  ResponsesRequest,
} from "./schema.ts";
import { modelFacts } from "../shared/openai-models.ts";
import { readAnswer, readStream } from "./upstream/answer.ts";
import { isErrorBody } from "./upstream/errors.ts";
import { encodeRequest } from "./upstream/request.ts";
import { mustTranslate } from "./upstream/tools.ts";
import { withoutReasoning, withoutSealed } from "./upstream/sealed.ts";
import { watch } from "./upstream/watch.ts";

const client: ClientCodec = {
  routes: {
    path: "/v1/responses",
    // Azure's paths and header.
    bases: ["/openai/v1", "/openai"],
    keyHeaders: ["authorization", "x-api-key", "api-key"],
    clientMembers: ["input", "instructions", "max_output_tokens", "previous_response_id", "include"],
  },
  request: {
    schema: toJson(ResponsesRequest),
    schemas: {
      answer: toJson(ResponsesAnswer),
      event: toJson(ResponsesEvent),
      error: toJson(ResponsesError),
    },
    errors: [
      {
        kind: "invalid-request",
        code: "unsupported_tool",
        when: "The request needs a tool that only the vendor itself runs, and the provider has none.",
      },
    ],
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
      errorEndsStream: true,
      // An SSE comment: the OpenAI SDK fails on events of types that it does not know.
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
  beside: {
    count: {
      path: "/v1/responses/input_tokens",
      implied: {},
      member: "input_tokens",
      constant: { object: "response.input_tokens" },
      schemas: { request: toJson(ResponsesCountRequest), answer: toJson(ResponsesCount) },
    },
    stored,
    compaction,
    hosted,
  },
};

const upstream: UpstreamCodec = {
  address: {
    endpoint: { path: "/responses" },
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
    models: { modelKind: modelFacts },
  },
  codec: { encodeRequest, readStream, readAnswer, decodeError },
  native: { withoutSealed, withoutReasoning, mustTranslate, isErrorBody, watch },
};

export const responsesFormat: Format & { client: ClientCodec; upstream: UpstreamCodec } = {
  id: FORMAT,
  client,
  upstream,
};
