/** The client face of chat-completions: requests in, answers out. */
import type { ClientCodec } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { encodeAnswer } from "./client/answer.ts";
import { checkRequest } from "./client/check.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { decodeRequest } from "./client/request.ts";
import { encodeStream } from "./client/stream.ts";
import { ChatCompletionsRequest } from "./schema.ts";

export const client: ClientCodec = {
  path: "/v1/chat/completions",
  schema: ChatCompletionsRequest as unknown as JsonObject,
  checkRequest,
  decodeRequest,
  encodeAnswer,
  encodeStream,
  encodeError,
  encodeStreamError,
  // Never a named event: the SDK would try to parse it (contract A.6).
  heartbeat: ": keepalive\n\n",
};
