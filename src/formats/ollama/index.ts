/**
 * Ollama's API (https://docs.ollama.com/api), for clients that speak no other one. It is two formats, because an answer of
 * `POST /api/chat` has other members than one of `POST /api/generate`. Neither has an upstream codec: weir asks an Ollama by its
 * chat-completions API.
 */
import type { ClientCodec, Format } from "../../core/format.ts";
import { toJson } from "../shared/schema.ts";
import { answerWriter, chatShape, generateShape, loadAnswer, streamWriter } from "./client/answer.ts";
import { readAnswer, readStream } from "./client/answer-reader.ts";
import { local } from "./client/catalog.ts";
import { checkGenerateRequest, checkRequest, GENERATE_REQUEST, REQUEST } from "./client/check.ts";
import { embeds } from "./client/embed.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { places } from "./client/places.ts";
import { decodeGenerateRequest, decodeRequest, hasMessages, hasPrompt } from "./client/request.ts";
import { promptSections, promptSession, sessionOf, settings, size } from "./client/facts.ts";
import { sessionInHeaders } from "../shared/session.ts";
import { FORMAT, GENERATE } from "./own-fields.ts";
import {
  OllamaAnswer,
  OllamaError,
  OllamaGenerateAnswer,
  OllamaGenerateRequest,
  OllamaRequest,
  WithMessages,
  WithPrompt,
} from "./schema.ts";

/** Members of both. */
const common = {
  routes: { prefixes: ["/api/"], impliedEnding: ":latest" },
  request: {
    streamsByDefault: true,
    // The examples of its documentation, which call curl, send forms.
    anyMediaType: true,
    judgedByOutline: true,
  },
  codec: {
    encodeError,
    encodeStreamError,
    reader: { readStream, readAnswer },
    framing: { lines: true, heartbeat: " " },
  },
  facts: { losesCallIds: true, places, namedSession: sessionInHeaders, size, settings },
};

const client: ClientCodec = {
  routes: {
    ...common.routes,
    path: "/api/chat",
    local,
    // Clients look for this sentence in the answer to `GET /`.
    greeting: { ollama: "Ollama is running" },
    clientMembers: ["options", "keep_alive", "think"],
  },
  request: {
    ...common.request,
    schema: toJson(OllamaRequest),
    schemas: {
      answer: toJson(OllamaAnswer),
      event: toJson(OllamaAnswer),
      error: toJson(OllamaError),
    },
    checkRequest,
    idle: { others: toJson(WithMessages), answer: loadAnswer(chatShape, (body) => !hasMessages(body)) },
  },
  codec: {
    ...common.codec,
    decodeRequest,
    leftOut: (body) => REQUEST.leftOut(body, false),
    writeStream: streamWriter(chatShape),
    writeAnswer: answerWriter(chatShape),
  },
  facts: { ...common.facts, sessionOf, promptSections },
  beside: { embeds },
};

const generateClient: ClientCodec = {
  routes: { ...common.routes, path: "/api/generate", clientMembers: ["raw", "template"] },
  request: {
    ...common.request,
    schema: toJson(OllamaGenerateRequest),
    schemas: {
      answer: toJson(OllamaGenerateAnswer),
      event: toJson(OllamaGenerateAnswer),
      error: toJson(OllamaError),
    },
    checkRequest: checkGenerateRequest,
    idle: { others: toJson(WithPrompt), answer: loadAnswer(generateShape, (body) => !hasPrompt(body)) },
  },
  codec: {
    ...common.codec,
    decodeRequest: decodeGenerateRequest,
    leftOut: (body) => GENERATE_REQUEST.leftOut(body, false),
    writeStream: streamWriter(generateShape),
    writeAnswer: answerWriter(generateShape),
  },
  facts: { ...common.facts, sessionOf: promptSession },
  beside: {},
};

/** Conversations. */
export const ollamaFormat: Format & { client: ClientCodec } = { id: FORMAT, client };

/** Single prompts. */
export const ollamaGenerateFormat: Format & { client: ClientCodec } = {
  id: GENERATE,
  kindMember: "suffix",
  client: generateClient,
};
