/** The upstream face of the Messages format: encodes requests, decodes answers. */
import type { UpstreamCodec } from "../../core/format.ts";
import { decodeAnswer, decodeStream } from "./upstream/answer.ts";
import { decodeError } from "../shared/upstream-error.ts";
import { isErrorBody } from "./upstream/errors.ts";
import { answerHeaders, requestHeaders } from "./upstream/headers.ts";
import { encodeRequest } from "./upstream/request.ts";
import { withoutSealed } from "./upstream/sealed.ts";
import { watch } from "./upstream/watch.ts";

export const messagesUpstream: UpstreamCodec = {
  encodeRequest,
  decodeAnswer,
  decodeStream,
  decodeError,
  isErrorBody,
  withoutSealed,
  watch,
  requestHeaders,
  answerHeaders,
};
