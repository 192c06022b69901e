/** The client face of chat-completions: requests in, answers out. */
import type { ClientCodec } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { encodeAnswer } from "./client/answer.ts";
import { checkRequest } from "./client/check.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { decodeRequest } from "./client/request.ts";
import { encodeStream } from "./client/stream.ts";
import { ChatCompletionsRequest } from "./schema.ts";

/** The schema without TypeBox's own symbols, as it stands in the OpenAPI document. */
const schema = JSON.parse(JSON.stringify(ChatCompletionsRequest)) as JsonObject;

export const client: ClientCodec = {
  path: "/v1/chat/completions",
  schema,
  checkRequest,
  decodeRequest,
  encodeAnswer,
  encodeStream,
  encodeError,
  encodeStreamError,
  // Never a named event: the SDK would try to parse it.
  heartbeat: ": keepalive\n\n",
};
