/** The upstream face of chat-completions: requests out, answers in. */
import type { UpstreamCodec } from "../../core/format.ts";
import { decodeAnswer } from "./upstream/answer.ts";
import { decodeError } from "../shared/upstream-error.ts";
import { isErrorBody } from "./upstream/errors.ts";
import { answerHeaders, requestHeaders } from "./upstream/headers.ts";
import { encodeRequest } from "./upstream/request.ts";
import { decodeStream } from "./upstream/stream.ts";
import { usageRequest } from "./upstream/usage-request.ts";
import { watch } from "./upstream/watch.ts";

export const upstream: UpstreamCodec = {
  encodeRequest,
  decodeAnswer,
  decodeStream,
  decodeError,
  isErrorBody,
  watch,
  usageRequest,
  requestHeaders,
  answerHeaders,
};
