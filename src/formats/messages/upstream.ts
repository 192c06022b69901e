/** The upstream face of the Messages format: encodes requests, decodes answers. */
import { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import { decodeError } from "./upstream/errors.ts";
import { answerHeaders, requestHeaders } from "./upstream/headers.ts";
import { watch } from "./upstream/watch.ts";

const pending = () => {
  throw new GatewayError("internal", "This direction of the messages format is being written.");
};

export const messagesUpstream: UpstreamCodec = {
  encodeRequest: pending,
  decodeAnswer: pending,
  decodeStream: pending,
  decodeError,
  watch,
  requestHeaders,
  answerHeaders,
};
