/** The Gemini format (`POST …/models/{model}:generateContent`), which Google's hosts speak. */
import type { Format, UpstreamCodec } from "../../core/format.ts";
import { FORMAT } from "./own-fields.ts";
import { readAnswer, readStream } from "./upstream/answer.ts";
import { decodeError, isErrorBody } from "./upstream/errors.ts";
import { encodeRequest } from "./upstream/request.ts";
import { withoutSealed } from "./upstream/sealed.ts";
import { watch } from "./upstream/watch.ts";

const upstream: UpstreamCodec = {
  requestInUrl: true,
  encodeRequest,
  readStream,
  readAnswer,
  decodeError,
  isErrorBody,
  withoutSealed,
  watch,
  // Credentials and the project that pays are not forwarded.
  requestHeaders: ["x-goog-api-client", "x-server-timeout"],
  answerHeaders: ["retry-after", "x-gemini-service-tier", "server-timing"],
};

export const geminiFormat: Format & { upstream: UpstreamCodec } = { id: FORMAT, upstream };
