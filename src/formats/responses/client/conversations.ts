/** Conversations that weir keeps: the objects of `/v1/conversations`, and the member `conversation` of requests. */
import type { ConversationAsk, ConversationCodec } from "../../../core/conversation-codec.ts";
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { StoredItem } from "../../../core/stored-answer.ts";
import { list } from "../../shared/read.ts";
import { conversationId, isOwnConversationId, itemId } from "../ids.ts";

/** The vendor's limits. */
const MAX_ITEMS = 20;
const MAX_PAIRS = 16;
const MAX_NAME = 64;
const MAX_VALUE = 512;

export const conversations: Omit<ConversationCodec, "resolved"> = {
  path: "/v1/conversations",
  idOf: conversationId,
  isOwnId: isOwnConversationId,
  named,
  read,
  requestOf: (items) => ({ model: "conversation", input: [...items] }),
  itemsIn: ({ items }) => (Array.isArray(items) && items.every(isObject) ? items : []),
  withItemsOf: (body, { input }) => ({ ...body, items: input ?? [] }),
  portable: (body) => ({ ...body, input: list(body.input).flatMap(portable) }),
  object: (id, created, metadata) => ({
    id,
    object: "conversation",
    created_at: Math.floor(created / 1000),
    metadata,
  }),
  renamed: (items, callId) =>
    items.map(({ value }, position) => {
      const id = itemId(typeOf(value), `${callId}:renamed`, "input", position);
      return { id, value: typeof value.id === "string" ? { ...value, id } : value };
    }),
  item,
  deleted: (id) => ({ id, object: "conversation.deleted", deleted: true }),
  unknown: (id, hint) => missing("Conversation", id, "conversation_not_found", hint),
  unknownItem: (id) => missing("Item", id, "item_not_found"),
};

function missing(what: string, id: string, code: string, hint?: string): GatewayError {
  const more = hint === undefined ? "" : ` ${hint}`;
  return new GatewayError("not-found", `${what} with id '${id.slice(0, 200)}' not found.${more}`, {
    code,
    ...(what === "Conversation" && { param: "conversation" }),
  });
}

function named({ conversation, previous_response_id: previous, background }: JsonObject): string | undefined {
  if (conversation == null) return undefined;
  if (previous != null)
    throw invalidRequest(
      "Mutually exclusive parameters: send only one of 'previous_response_id' and 'conversation'.",
      "previous_response_id",
      "mutually_exclusive_parameters",
    );
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id === "string" && isOwnConversationId(id) && background === true)
    throw invalidRequest(
      "background: an answer that extends a conversation of weir is not generated in the background.",
      "background",
      "unsupported_value",
    );
  if (typeof id === "string" && id !== "") return id;
  throw invalidRequest(
    "conversation: expected an id, or an object with an `id`.",
    "conversation",
    "invalid_type",
  );
}

function read({ items, metadata }: JsonObject, needed?: "metadata" | "items"): ConversationAsk {
  if ((needed === "items" && items == null) || (needed === "metadata" && metadata === undefined))
    throw invalidRequest(`Missing required parameter: '${needed}'.`, needed, "missing_required_parameter");
  if (items != null && (!Array.isArray(items) || !items.every(isObject)))
    throw invalidRequest("items: expected a list of objects.", "items", "invalid_type");
  if (list(items).length > MAX_ITEMS)
    throw invalidRequest(
      `items: expected at most ${MAX_ITEMS} items in one request.`,
      "items",
      "array_above_max_length",
    );
  list(items).filter(isObject).forEach(checkItem);
  return {
    items: list(items).filter(isObject),
    ...(metadata !== undefined && { metadata: readMetadata(metadata) }),
  };
}

const ROLES: ReadonlySet<Json | undefined> = new Set(["user", "assistant", "system", "developer"]);

/** Items of any type are kept as they are; a message is shown in the vendor's form. @throws GatewayError `invalid-request` */
function checkItem({ type, role, content, id }: JsonObject, position: number): void {
  const at = `items[${position}]`;
  const isReference = type == null && role == null && typeof id === "string";
  if (isReference || (typeof type === "string" && type !== "message")) return;
  const hasContent = typeof content === "string" || Array.isArray(content);
  if (ROLES.has(role) && hasContent && (type == null || type === "message")) return;
  throw invalidRequest(
    `${at}: expected a \`type\`, or a message with a \`role\` (${[...ROLES].join(", ")}) and \`content\`.`,
    at,
    "invalid_value",
  );
}

/** @throws GatewayError `invalid-request` */
function readMetadata(metadata: Json): JsonObject {
  if (metadata === null) return {};
  const pairs = isObject(metadata) ? Object.entries(metadata) : undefined;
  const isValid = pairs?.every(
    ([name, value]) => name.length <= MAX_NAME && typeof value === "string" && value.length <= MAX_VALUE,
  );
  if (isObject(metadata) && pairs!.length <= MAX_PAIRS && isValid) return metadata;
  throw invalidRequest(
    `metadata: expected at most ${MAX_PAIRS} pairs of texts, with names of at most ${MAX_NAME} and values of at most ${MAX_VALUE} characters.`,
    "metadata",
    "invalid_value",
  );
}

/** Items that mean the same without their id. */
const PORTABLE: ReadonlySet<Json | undefined> = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

/** Reasoning without its encrypted content is nothing else than its id. */
function portable(value: Json): Json[] {
  if (!isObject(value) || typeof value.id !== "string") return [value];
  const type = value.type ?? (value.role == null ? undefined : "message");
  if (!PORTABLE.has(type)) return [value];
  if (type === "reasoning" && typeof value.encrypted_content !== "string") return [];
  const { id: _, ...rest } = value;
  return [rest];
}

function typeOf({ type }: JsonObject): string {
  return typeof type === "string" ? type : "message";
}

/** Messages have all members that the vendor gives them, in whichever of its forms the client sent them. */
function item({ id, value }: StoredItem): JsonObject {
  const type = typeOf(value);
  if (type !== "message") return { ...value, id, type };
  const { role, content, status } = value;
  const isOwn = role === "assistant";
  const part: JsonObject = isOwn
    ? { type: "output_text", text: content ?? "", annotations: [], logprobs: [] }
    : { type: "input_text", text: content ?? "" };
  return {
    ...value,
    id,
    type,
    status: status ?? "completed",
    content: typeof content === "string" ? [part] : (content ?? []),
  };
}
