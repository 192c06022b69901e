/**
 * The operations on conversations. weir answers for those that it keeps: a conversation of another key is as unknown as
 * one that does not exist.
 */
import { keptNotes, setFoundNotes } from "../../core/answer-notes.ts";
import type { Amendment, AnswerStore } from "../../core/answer-store.ts";
import type { Call } from "../../core/call.ts";
import type { ConversationCodec } from "../../core/conversation-codec.ts";
import { GatewayError, invalidRequest } from "../../core/error.ts";
import type { ClientCodec } from "../../core/format.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { isHeld, type StoredAnswer, type StoredItem } from "../../core/stored-answer.ts";
import type { StoredCodec } from "../../core/stored-codec.ts";
import type { Opened, OpenedJson } from "../lanes/lane.ts";
import type { Gateway } from "../types.ts";
import { extend } from "./extend-conversation.ts";
import { ownerOf } from "./owner.ts";
import { readPage } from "./page.ts";
import { reading } from "./reading.ts";

/** A request about one conversation, or one of its items. */
export interface ConversationRequest {
  call: Call;
  format: { id: string; client: ClientCodec };
  /** The ids in the path, decoded; empty where it has none. */
  id: string;
  item: string;
  query: URLSearchParams;
  /** Empty for a request without a body. */
  body: JsonObject;
  /** The body as it is sent on. */
  bytes: Uint8Array;
}

/** @throws GatewayError `not-found` for a conversation that the client's key does not have */
export type ConversationOperation = (request: ConversationRequest, gateway: Gateway) => Promise<Opened>;

/** The status of the stored answer as which the store keeps a conversation: its items are input items. */
const STATUS = "conversation";

export async function createConversation(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { call, body } = request;
  const { conversations } = codecsOf(request);
  const { items, metadata = {} } = conversations.read(body);
  const created = Date.now();
  const { keepMs, commitMs } = gateway.answerOptions;
  const conversation: StoredAnswer = {
    id: conversations.idOf(call.id),
    owner: ownerOf(call),
    model: "",
    status: STATUS,
    created,
    expires: created + keepMs,
    body: { metadata },
    input: await itemsOf(items, request, gateway),
    output: [],
    ...keptNotes(call),
  };
  const outcome = await writing(gateway, (answers) => answers.put(conversation, commitMs));
  if (outcome === "late") throw unavailable();
  if (outcome === "too-large") throw tooLarge();
  return json(conversations.object(conversation.id, created, metadata));
}

export async function retrieveConversation(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  return json(objectOf(await find(request, gateway), codecsOf(request).conversations));
}

export async function updateConversation(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { conversations } = codecsOf(request);
  const { metadata = {} } = conversations.read(request.body, "metadata");
  const found = await find(request, gateway);
  await amend(request, { body: { metadata } }, gateway);
  return json(conversations.object(found.id, found.created, metadata));
}

export async function deleteConversation(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { id, call } = request;
  const { conversations } = codecsOf(request);
  const isKnown = conversations.isOwnId(id);
  const isDeleted = isKnown && (await reading(gateway, (answers) => answers.delete(id, ownerOf(call))));
  if (!isDeleted) throw conversations.unknown(id);
  return json(conversations.deleted(id));
}

export async function listConversationItems(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { id, call, query } = request;
  const page = readPage(query);
  const found = await find(request, gateway);
  const items = await reading(gateway, (answers) => answers.inputItems(found.id, ownerOf(call), page));
  if (items) return json(pageOf(items.items, items.hasMore, request));
  // The conversation may have been deleted in the meantime.
  await find({ ...request, id }, gateway);
  throw invalidRequest("The conversation has no item with this id.", "after", "invalid_value");
}

export async function addConversationItems(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { conversations } = codecsOf(request);
  const read = conversations.read(request.body, "items");
  await find(request, gateway);
  const add = await itemsOf(read.items, request, gateway);
  const expires = Date.now() + gateway.answerOptions.keepMs;
  const added = await amend(request, { add, expires, ...keptNotes(request.call) }, gateway);
  return json(pageOf(added, false, request));
}

export async function retrieveConversationItem(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { conversations } = codecsOf(request);
  const { input } = await find(request, gateway);
  const [found] = input;
  if (!found) throw conversations.unknownItem(request.item);
  return json(conversations.item(found));
}

export async function deleteConversationItem(
  request: ConversationRequest,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { conversations } = codecsOf(request);
  const found = await find(request, gateway);
  await amend(request, { drop: request.item }, gateway, () => conversations.unknownItem(request.item));
  return json(objectOf(found, conversations));
}

function codecsOf({ format }: ConversationRequest): {
  stored: StoredCodec;
  conversations: ConversationCodec;
} {
  const stored = format.client.beside.stored!;
  return { stored, conversations: stored.conversations! };
}

/** The conversation, with the item that the request names and no other one: it may have very many. */
async function find(request: ConversationRequest, gateway: Gateway): Promise<StoredAnswer> {
  const { id, call, item } = request;
  const { conversations } = codecsOf(request);
  const found = conversations.isOwnId(id)
    ? await reading(gateway, (answers) => answers.get(id, ownerOf(call), item))
    : undefined;
  if (!found) throw conversations.unknown(id);
  setFoundNotes(call, found.notes ?? []);
  return found;
}

/**
 * @param unknown the error for a conversation that the change does not fit; default: that it does not exist
 * @returns the added items
 */
async function amend(
  request: ConversationRequest,
  amendment: Amendment,
  gateway: Gateway,
  unknown = () => codecsOf(request).conversations.unknown(request.id),
): Promise<readonly StoredItem[]> {
  const { id, call } = request;
  const by = { codec: codecsOf(request).conversations, callId: call.id };
  const change = (answers: AnswerStore) => extend(answers, { id, owner: ownerOf(call) }, amendment, by);
  const { outcome, added } = await writing(gateway, change);
  if (outcome === "unknown") throw unknown();
  if (outcome === "too-large") throw tooLarge();
  if (outcome !== "stored") throw unavailable();
  return added;
}

/**
 * The items of a body with an id each, and with the stored items in place of references.
 * @throws GatewayError for an item that is not valid, and for a reference to one that the key does not have
 */
async function itemsOf(
  items: readonly JsonObject[],
  request: ConversationRequest,
  gateway: Gateway,
): Promise<readonly StoredItem[]> {
  if (items.length === 0) return [];
  const { stored, conversations } = codecsOf(request);
  const body = conversations.requestOf(items);
  request.format.client.request.checkRequest(body);
  const { references } = stored.ask(body);
  const owner = ownerOf(request.call);
  const found =
    references.length === 0
      ? new Map<string, JsonObject>()
      : await reading(gateway, (answers) => answers.items(references, owner));
  const missing = references.find((id) => isHeld(found?.get(id) ?? {}));
  if (missing !== undefined) throw stored.unknownItem(missing);
  const whole = conversations.resolved(body, found ?? new Map());
  const identified = stored.inputItems(whole, request.call.id);
  const isDistinct = new Set(identified.map(({ id }) => id)).size === identified.length;
  return isDistinct ? identified : conversations.renamed(identified, request.call.id);
}

function pageOf(items: readonly StoredItem[], hasMore: boolean, request: ConversationRequest): JsonObject {
  const { stored, conversations } = codecsOf(request);
  const shown = items.map((item) => ({ id: item.id, value: conversations.item(item) }));
  return stored.listItems(shown, hasMore);
}

function objectOf({ id, created, body }: StoredAnswer, conversations: ConversationCodec): JsonObject {
  const { metadata } = body ?? {};
  return conversations.object(id, created, isObject(metadata) ? metadata : {});
}

/** @throws GatewayError `overloaded` if the store does not answer, `invalid-request` while weir keeps no answers */
async function writing<Outcome>(
  { answers }: Gateway,
  write: (answers: AnswerStore) => Promise<Outcome>,
): Promise<Outcome> {
  if (!answers)
    throw invalidRequest(
      "weir keeps no conversations: name a state folder with `--state`.",
      undefined,
      "conversations_not_kept",
    );
  return write(answers).catch((cause: unknown) => {
    throw unavailable(cause);
  });
}

function unavailable(cause?: unknown): GatewayError {
  return new GatewayError("overloaded", "weir cannot change its conversations at the moment; retry in 1 s.", {
    code: "store_unavailable",
    retryAfter: 1,
    ...(cause !== undefined && { cause }),
  });
}

function tooLarge(): GatewayError {
  return invalidRequest(
    "The items are larger than weir keeps in one conversation.",
    "items",
    "conversation_too_large",
  );
}

function json(body: JsonObject): OpenedJson {
  const headers = { "content-type": "application/json" };
  return { kind: "json", status: 200, headers, body: JSON.stringify(body) };
}
