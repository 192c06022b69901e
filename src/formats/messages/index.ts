/** The Messages format (`POST /v1/messages`). Anthropic defined it; several other vendors speak it too. */
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import { toJson } from "../shared/schema.ts";
import { writeAnswer, writeStream } from "./client/answer.ts";
import type { SystemTurns } from "./client/check.ts";
import { checkRequest, REQUEST } from "./client/check.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { hosted } from "./client/hosted.ts";
import { files } from "./client/files.ts";
import { places } from "./client/places.ts";
import { decodeRequest } from "./client/request.ts";
import { TIME_RATE_HEADERS } from "../shared/rate-headers.ts";
import { namedSession, promptSections, sessionOf, settings, size } from "./client/facts.ts";
import { modelMembers } from "./client/models.ts";
import { MessagesAnswer, MessagesCount, MessagesError, MessagesEvent, requestSchemas } from "./schema.ts";
import { modelFacts } from "./models.ts";
import { readAnswer, readStream } from "./upstream/answer.ts";
import { decodeError, isErrorBody } from "./upstream/errors.ts";
import { factsIn } from "./upstream/listed-model.ts";
import { encodeRequest } from "./upstream/request.ts";
import { withoutSealed } from "./upstream/sealed.ts";
import { watch } from "./upstream/watch.ts";
import { FORMAT } from "./own-fields.ts";

function createClient(systemTurns: SystemTurns): ClientCodec {
  const request = requestSchemas(systemTurns === "accept");
  return {
    routes: {
      path: "/v1/messages",
      // The path of Foundry and of other vendors that serve this format beside their own.
      bases: ["/anthropic/v1"],
      clientHeaders: ["anthropic-version", "anthropic-beta", "anthropic-dangerous-direct-browser-access"],
      vendor: "anthropic",
      clientMembers: ["system", "stop_sequences", "output_config", "context_management"],
      keyHeaders: ["x-api-key", "authorization"],
      modelMembers,
    },
    request: {
      schema: toJson(request.generate),
      schemas: {
        answer: toJson(MessagesAnswer),
        event: toJson(MessagesEvent),
        error: toJson(MessagesError),
      },
      errors: [
        {
          kind: "invalid-request",
          code: "thread_unsupported_request",
          when: "The request continues a message thread (`thread`), and the provider keeps none.",
        },
      ],
      checkRequest: (body) => checkRequest(body, systemTurns),
      judgedByOutline: true,
    },
    codec: {
      decodeRequest,
      leftOut: (body, sameFormat) => REQUEST.leftOut(body, sameFormat),
      writeStream,
      writeAnswer,
      encodeError,
      encodeStreamError,
      framing: { heartbeat: 'event: ping\ndata: {"type": "ping"}\n\n' },
    },
    facts: {
      files,
      places,
      namedSession,
      sessionOf,
      promptSections,
      rateHeaders: TIME_RATE_HEADERS,
      size,
      settings,
    },
    beside: {
      count: {
        path: "/v1/messages/count_tokens",
        implied: { max_tokens: 1 },
        member: "input_tokens",
        schemas: { request: toJson(request.count), answer: toJson(MessagesCount) },
      },
      hosted,
    },
  };
}

const upstream: UpstreamCodec = {
  address: {
    countPath: "/count_tokens",
    endpoint: {
      path: "/messages",
      // Like Anthropic's SDKs, weir expects a base URL without `/v1`.
      alone: { path: "/v1/messages", models: "/v1/models", auth: "x-api-key" },
    },
    // Credentials are not forwarded.
    requestHeaders: ["anthropic-version", "anthropic-beta", "x-app"],
    // Ids of organisations and workspaces are not forwarded.
    answerHeaders: [
      "anthropic-ratelimit-*",
      "anthropic-priority-*",
      "anthropic-fast-*",
      "retry-after",
      "retry-after-ms",
      "x-should-retry",
    ],
    models: { modelKind: modelFacts, factsIn },
  },
  codec: { encodeRequest, readStream, readAnswer, decodeError },
  native: { isErrorBody, withoutSealed, watch },
};

export interface MessagesOptions {
  /**
   * `accept` (default): messages with `role: "system"` are allowed anywhere but first, as Claude Code sends them.
   * `reject`: they are refused everywhere.
   */
  systemTurns?: SystemTurns;
}

/** Creates the format with these options; `messagesFormat` has the defaults. */
export function createMessagesFormat(
  options: MessagesOptions = {},
): Format & { client: ClientCodec; upstream: UpstreamCodec } {
  return { id: FORMAT, client: createClient(options.systemTurns ?? "accept"), upstream };
}

export const messagesFormat = createMessagesFormat();
