/** The client face of the Messages format: decodes requests, encodes answers. */
import type { ClientCodec } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { encodeAnswer, encodeStream } from "./client/answer.ts";
import type { SystemTurns } from "./client/check.ts";
import { checkRequest } from "./client/check.ts";
import { encodeError, encodeStreamError } from "./client/errors.ts";
import { decodeRequest } from "./client/request.ts";
import { MessagesRequest } from "./schema.ts";

/** The schema without TypeBox's own symbols, as it stands in the OpenAPI document. */
const schema = JSON.parse(JSON.stringify(MessagesRequest)) as JsonObject;

/** @param systemTurns what to do with `role: "system"` behind the first message. */
export function createMessagesClient(systemTurns: SystemTurns): ClientCodec {
  return {
    path: "/v1/messages",
    countPath: "/v1/messages/count_tokens",
    clientHeaders: ["anthropic-version", "anthropic-beta", "anthropic-dangerous-direct-browser-access"],
    schema,
    checkRequest: (body) => checkRequest(body, systemTurns),
    decodeRequest,
    encodeAnswer,
    encodeStream,
    encodeError,
    encodeStreamError,
    heartbeat: 'event: ping\ndata: {"type": "ping"}\n\n',
  };
}
