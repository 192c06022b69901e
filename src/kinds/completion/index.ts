/**
 * Completions of a text: OpenAI's (`POST /v1/completions`), and Mistral's of the middle of a text (`POST /v1/fim/completions`), whose
 * answers have the shape of a chat. Hosts may be llama.cpp's (`POST /infill`), too. A provider serves them by `does: { completion }`; no model for conversations is asked for them.
 */
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import { toJson } from "../../formats/shared/schema.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { answerWriter, completionShape, fimShape, streamWriter } from "./client/answer.ts";
import { checkFimRequest, checkRequest, FIM_REQUEST, REQUEST } from "./client/check.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { settings, size } from "./client/facts.ts";
import { places } from "./client/places.ts";
import { decodeFimRequest, decodeRequest } from "./client/request.ts";
import { FIM, FORMAT, INFILL } from "./own-fields.ts";
import {
  CompletionsAnswer,
  CompletionsError,
  CompletionsRequest,
  FimAnswer,
  FimEvent,
  FimRequest,
} from "./schema.ts";
import { readAnswer, readStream } from "./upstream/answer.ts";
import { isErrorBody } from "./upstream/errors.ts";
import { encodeInfillRequest, readInfillAnswer, readInfillStream } from "./upstream/infill.ts";
import { encodeFimRequest, encodeRequest } from "./upstream/request.ts";
import { watch } from "./upstream/watch.ts";
import { usageRequest } from "./usage.ts";

const framing = { heartbeat: ": keepalive\n\n" };
const facts = { places, size, settings };

const client: ClientCodec = {
  routes: {
    path: "/v1/completions",
    bases: ["/openai/v1", "/openai/deployments/{model}", "/beta"],
    keyHeaders: ["authorization", "x-api-key", "api-key"],
    clientMembers: ["suffix", "best_of", "echo"],
  },
  request: {
    schema: toJson(CompletionsRequest),
    schemas: {
      answer: toJson(CompletionsAnswer),
      event: toJson(CompletionsAnswer),
      terminator: "[DONE]",
      error: toJson(CompletionsError),
    },
    checkRequest,
  },
  codec: {
    decodeRequest,
    leftOut: (body, sameFormat) => REQUEST.leftOut(body, sameFormat),
    writeStream: streamWriter(completionShape),
    writeAnswer: answerWriter(completionShape),
    ...{ encodeError, encodeStreamError, framing },
  },
  facts,
  beside: {},
};

const fimClient: ClientCodec = {
  routes: { path: "/v1/fim/completions", clientMembers: ["random_seed", "min_tokens"] },
  request: {
    schema: toJson(FimRequest),
    schemas: {
      answer: toJson(FimAnswer),
      event: toJson(FimEvent),
      terminator: "[DONE]",
      error: toJson(CompletionsError),
    },
    checkRequest: checkFimRequest,
  },
  codec: {
    decodeRequest: decodeFimRequest,
    leftOut: (body, sameFormat) => FIM_REQUEST.leftOut(body, sameFormat),
    writeStream: streamWriter(fimShape),
    writeAnswer: answerWriter(fimShape),
    ...{ encodeError, encodeStreamError, framing },
  },
  facts,
  beside: {},
};

const answerHeaders = [
  ...["x-ratelimit-*", "openai-processing-ms", "openai-version", "openai-model"],
  ...["retry-after", "retry-after-ms", "x-should-retry"],
];

const upstream: UpstreamCodec = {
  address: { requestHeaders: ["x-client-request-id"], answerHeaders },
  codec: { encodeRequest, readStream, readAnswer, decodeError },
  native: { isErrorBody, watch, usageRequest },
};

const fimUpstream: UpstreamCodec = {
  ...upstream,
  codec: { ...upstream.codec, encodeRequest: encodeFimRequest },
  native: { isErrorBody, watch },
};

const infillUpstream: UpstreamCodec = {
  ...upstream,
  codec: {
    ...upstream.codec,
    encodeRequest: encodeInfillRequest,
    readStream: readInfillStream,
    readAnswer: readInfillAnswer,
  },
};

export const completionsFormat: Format & { client: ClientCodec; upstream: UpstreamCodec } = {
  id: FORMAT,
  kind: "completion",
  client,
  upstream,
};

export const fimFormat: Format & { client: ClientCodec; upstream: UpstreamCodec } = {
  id: FIM,
  kind: "completion",
  client: fimClient,
  upstream: fimUpstream,
};

/** No client asks in it. */
export const infillFormat: Format & { upstream: UpstreamCodec } = {
  id: INFILL,
  kind: "completion",
  upstream: infillUpstream,
};
