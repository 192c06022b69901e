/** The checks of a message before anything is asked of a server, in the order of the specification. */
import { isUtf8 } from "node:buffer";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { decodeValue } from "../wire/header-values.ts";
import {
  CODE,
  isId,
  isNotification,
  isRequest,
  isResponse,
  McpError,
  type RequestId,
} from "../wire/messages.ts";
import { META, metaOf, MODERN, NAMED, REVISIONS } from "../wire/revisions.ts";

/** Deepest nesting of a message. */
const MOST_DEPTH = 64;

/** A message that may be answered. */
export interface Checked {
  readonly message: JsonObject;
  readonly text: string;
  readonly isModern: boolean;
  /** Absent: it wants no answer. */
  readonly id?: RequestId;
  readonly method?: string;
  readonly params: JsonObject;
}

/** A fault of a message, with what is known of its request. */
export class MessageFault extends Error {
  readonly error: McpError;
  readonly id: RequestId | undefined;
  readonly isModern: boolean;

  constructor(error: McpError, of: { readonly id?: RequestId | undefined; readonly isModern: boolean }) {
    super(error.message);
    this.error = error;
    this.id = of.id;
    this.isModern = of.isModern;
  }
}

/** @throws MessageFault */
export function checkMessage(bytes: Uint8Array, headers: Headers): Checked {
  const said = headers.get("mcp-protocol-version");
  const looksModern = said !== null && said >= MODERN && !headers.has("mcp-session-id");
  const fault = (code: number, message: string, more: { id?: RequestId } = {}) =>
    new MessageFault(new McpError(code, message, { status: 400 }), { ...more, isModern: looksModern });
  if (bytes.length === 0) throw fault(CODE.parse, "the body is empty; send one JSON-RPC message");
  if (!isUtf8(bytes)) throw fault(CODE.parse, "the body is not valid UTF-8");
  const text = new TextDecoder().decode(bytes);
  if (isTooDeep(text)) throw fault(CODE.request, `the message nests deeper than ${MOST_DEPTH} levels`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw fault(CODE.parse, "the body is not valid JSON");
  }
  if (Array.isArray(value))
    throw fault(CODE.request, "batches are not served; send one message in a request");
  if (!isObject(value) || value["jsonrpc"] !== "2.0")
    throw fault(CODE.request, 'the message must be an object with jsonrpc "2.0"');
  const id = isId(value["id"]) ? value["id"] : undefined;
  if (!isRequest(value) && !isNotification(value) && !isResponse(value))
    throw fault(
      CODE.request,
      "the message is no request, notification or response of JSON-RPC",
      id === undefined ? {} : { id },
    );
  const { method, params = {} } = value as { method?: string; params?: JsonObject };
  const isModern = method !== undefined && isOfModernEra(method, params, said, headers);
  const checked = {
    message: value as JsonObject,
    text,
    isModern,
    params,
    ...(id !== undefined && { id }),
    ...(method !== undefined && { method }),
  };
  if (isModern) checkModern(checked, headers);
  else checkLegacy(checked, headers);
  return checked;
}

/** The version in the body decides; else a session is legacy; else the header decides. */
function isOfModernEra(method: string, params: JsonObject, said: string | null, headers: Headers): boolean {
  if (META.version in metaOf(params)) return true;
  if (method === "initialize" || headers.has("mcp-session-id")) return false;
  return said !== null && (said >= MODERN || !REVISIONS.includes(said));
}

function checkModern({ id, method, params }: Checked, headers: Headers): void {
  const fault = (code: number, message: string, data?: Json) =>
    new MessageFault(new McpError(code, message, { status: 400, ...(data !== undefined && { data }) }), {
      id,
      isModern: true,
    });
  const meta = metaOf(params);
  // Clients send notifications of the modern era without the members that requests have.
  if (id === undefined && !(META.version in meta)) return;
  const version = meta[META.version];
  const said = headers.get("mcp-protocol-version");
  if (said === null)
    throw fault(CODE.headerMismatch, "HeaderMismatch: the header MCP-Protocol-Version is missing");
  if (typeof version !== "string") throw fault(CODE.params, `params._meta must have ${META.version}`);
  if (said !== version)
    throw fault(
      CODE.headerMismatch,
      "HeaderMismatch: the header MCP-Protocol-Version differs from params._meta",
    );
  if (version !== MODERN)
    throw fault(CODE.version, `Unsupported protocol version: ${version}`, {
      supported: [...REVISIONS],
      requested: version,
    });
  if (!isObject(meta[META.capabilities]))
    throw fault(CODE.params, `params._meta must have ${META.capabilities}`);
  const saidMethod = headers.get("mcp-method");
  if (saidMethod !== method)
    throw fault(
      CODE.headerMismatch,
      `HeaderMismatch: the header Mcp-Method ${saidMethod === null ? "is missing" : "differs from method"}`,
    );
  const member = NAMED[method];
  if (member === undefined) return;
  const name = headers.get("mcp-name");
  if (name === null) throw fault(CODE.headerMismatch, "HeaderMismatch: the header Mcp-Name is missing");
  if (decodeValue(name) !== params[member])
    throw fault(CODE.headerMismatch, `HeaderMismatch: the header Mcp-Name differs from params.${member}`);
}

function checkLegacy({ id, method }: Checked, headers: Headers): void {
  const fault = (message: string) =>
    new MessageFault(new McpError(CODE.request, message, { status: 400 }), { id, isModern: false });
  const said = headers.get("mcp-protocol-version");
  if (method === "initialize") return;
  if (said !== null && !REVISIONS.includes(said)) throw fault(`Unsupported protocol version: ${said}`);
  if (!headers.has("mcp-session-id"))
    throw fault(
      "the header Mcp-Session-Id is missing: call initialize first, or send the protocol version in params._meta",
    );
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) isString = false;
    } else if (code === 0x22) isString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > MOST_DEPTH) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
