/** The Gemini format (`POST /v1beta/models/MODEL:generateContent`), which Google defined. */
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import { toJson } from "../shared/schema.ts";
import { GeminiAnswer, GeminiError, GeminiEvent, GeminiRequest } from "./schema.ts";
import { address, pathOf } from "./client/address.ts";
import { writeAnswer, writeStream } from "./client/answer.ts";
import { checkRequest, leftOut } from "./client/check.ts";
import { count } from "./client/count.ts";
import { embeds } from "./client/embed.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { models } from "./client/models.ts";
import { files } from "./client/files.ts";
import { places } from "./client/places.ts";
import { decodeRequest } from "./client/request.ts";
import { promptSections, sessionOf, settings, size } from "./client/facts.ts";
import { sessionInHeaders } from "../shared/session.ts";
import { endpoint, factsIn } from "./endpoint.ts";
import { FORMAT } from "./own-fields.ts";
import { modelFacts } from "./models.ts";
import { readAnswer, readStream } from "./upstream/answer.ts";
import { decodeError, isErrorBody } from "./upstream/errors.ts";
import { encodeRequest } from "./upstream/request.ts";
import { withoutSealed } from "./upstream/sealed.ts";
import { watch } from "./upstream/watch.ts";

const client: ClientCodec = {
  routes: {
    path: pathOf("generateContent"),
    address,
    models,
    clientHeaders: ["x-goog-api-key", "x-goog-api-client"],
    vendor: "google",
    clientMembers: [
      "contents",
      "generationConfig",
      "generation_config",
      "systemInstruction",
      "system_instruction",
    ],
    keyHeaders: ["x-goog-api-key", "authorization"],
  },
  request: {
    schema: toJson(GeminiRequest),
    schemas: {
      answer: toJson(GeminiAnswer),
      event: toJson(GeminiEvent),
      error: toJson(GeminiError),
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
    leftOut,
    writeStream,
    writeAnswer,
    encodeError,
    encodeStreamError,
    framing: {
      // `@google/genai` 1.30, which gemini-cli 0.61 contains, finds only errors in network chunks that are JSON.
      repeatsError: true,
      // A comment as a record of its own: the SDK of Google does not read it.
      heartbeat: ": keepalive\n\n",
    },
  },
  facts: { files, places, namedSession: sessionInHeaders, sessionOf, promptSections, size, settings },
  beside: { count, embeds, cached: ["cachedContent", "cached_content"] },
};

const upstream: UpstreamCodec = {
  address: {
    requestInUrl: true,
    endpoint,
    countPath: ":countTokens",
    // Credentials and the project that pays are not forwarded.
    requestHeaders: ["x-goog-api-client", "x-server-timeout"],
    answerHeaders: ["retry-after", "x-gemini-service-tier", "server-timing"],
    models: { modelKind: modelFacts, factsIn },
  },
  codec: { streamsAsList: true, encodeRequest, readStream, readAnswer, decodeError },
  native: {
    isErrorBody,
    withoutSealed,
    // Signatures are base64.
    sealedMark: Buffer.from("weir1.").toString("base64"),
    watch,
  },
};

export const geminiFormat: Format & { client: ClientCodec; upstream: UpstreamCodec } = {
  id: FORMAT,
  client,
  upstream,
};
