/** The upstream face of chat-completions: requests out, answers in. */
import { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import { decodeError } from "./upstream/errors.ts";
import { answerHeaders, requestHeaders } from "./upstream/headers.ts";
import { watch } from "./upstream/watch.ts";

function untranslated(): never {
  throw new GatewayError("internal", "Translation to chat-completions upstreams is not available.");
}

export const upstream: UpstreamCodec = {
  encodeRequest: untranslated,
  decodeAnswer: untranslated,
  decodeStream: untranslated,
  decodeError,
  watch,
  requestHeaders,
  answerHeaders,
};
