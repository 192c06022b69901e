/**
 * Interactions of the Gemini API (`POST /v1beta/interactions`). Google's hosts get the client's bytes. No request of another format
 * becomes one, because Google's hosts have generateContent for them.
 */
import { GatewayError } from "../../../core/error.ts";
import type { ClientCodec, Format, UpstreamCodec } from "../../../core/format.ts";
import { sessionInHeaders } from "../../shared/session.ts";
import { toJson } from "../../shared/schema.ts";
import { encodeError } from "../client/errors.ts";
import { GeminiError } from "../schema.ts";
import { decodeError, isErrorBody } from "../upstream/errors.ts";
import { writeAnswer, writeStream } from "./answer.ts";
import { checkRequest, REQUEST } from "./check.ts";
import { promptSections, sessionOf, settings, size } from "./facts.ts";
import { INTERACTIONS } from "./own-fields.ts";
import { places } from "./places.ts";
import { readAnswer, readStream } from "./reader.ts";
import { decodeRequest } from "./request.ts";
import { InteractionAnswer, InteractionEvent, InteractionRequest } from "./schema.ts";
import { stored } from "./stored.ts";
import { watch } from "./watch.ts";

const client: ClientCodec = {
  routes: {
    path: "/v1/interactions",
    ownBases: ["/v1beta", "/v1alpha", "/v1beta1"],
    vendor: "google",
    clientMembers: ["previous_interaction_id", "system_instruction"],
    keyHeaders: ["x-goog-api-key", "authorization"],
  },
  request: {
    schema: toJson(InteractionRequest),
    schemas: {
      answer: toJson(InteractionAnswer),
      event: toJson(InteractionEvent),
      terminator: "[DONE]",
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
  },
  codec: {
    decodeRequest,
    leftOut: (body, sameFormat) => REQUEST.leftOut(body, sameFormat),
    writeStream,
    writeAnswer,
    encodeError,
    encodeStreamError(error) {
      const { message, code } = error;
      const data = { event_type: "error", error: { message, ...(code !== undefined && { code }) } };
      return [{ event: "error", data: JSON.stringify(data) }];
    },
    framing: { errorEndsStream: true, heartbeat: ": keepalive\n\n" },
  },
  facts: { places, namedSession: sessionInHeaders, sessionOf, promptSections, size, settings },
  beside: { stored, cached: ["cached_content"] },
};

const upstream: UpstreamCodec = {
  address: {
    endpoint: { path: "/v1beta/interactions" },
    requestHeaders: ["x-goog-api-client", "x-server-timeout"],
    answerHeaders: ["retry-after", "x-gemini-service-tier", "server-timing"],
  },
  codec: {
    encodeRequest() {
      throw new GatewayError(
        "invalid-request",
        "The provider of this model answers interactions alone; ask POST /v1beta/interactions.",
        { code: "unsupported_value", shouldRetry: false },
      );
    },
    readStream,
    readAnswer,
    decodeError,
  },
  native: { isErrorBody, watch },
};

export const interactionsFormat: Format & { client: ClientCodec; upstream: UpstreamCodec } = {
  id: INTERACTIONS,
  client,
  upstream,
};
