/** How clients continue stored answers: by `previous_response_id`, and by references to single items. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { AnswerFollower, FoundItems, StoredAsk, StoredCodec } from "../../../core/stored-codec.ts";
import type { Frame } from "../../../core/frame.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import type { StoredItem } from "../../../core/stored-answer.ts";
import { list, text } from "../../shared/read.ts";
import { isOwnAnswerId, itemId } from "../ids.ts";
import { isTrigger, openSummary } from "../compaction.ts";
import { conversations } from "./conversations.ts";
import { behindStored } from "./item-path.ts";
import { memberOf } from "./response.ts";

export const stored: StoredCodec = {
  members: { previous: "previous_response_id", conversation: "conversation", store: "store" },
  referenceMark: "item_reference",
  isOwnId: isOwnAnswerId,
  paths: { cancel: "cancel", inputItems: "input_items" },
  // Of AzureOpenAI. The path of a provider says its own version.
  ignoredParameters: ["api-version"],
  ask,
  expand,
  detached,
  inputItems,
  split,
  join: ({ body, output }) => ({ ...body, output: output.map(({ value }) => value) }),
  withStored: (answer, isStored, conversation) => ({
    ...answer,
    store: isStored,
    ...memberOf(conversation),
  }),
  itemIds: ({ output, data, item, response }) =>
    [...list(output), ...list(data), item, ...(isObject(response) ? list(response.output) : [])].flatMap(
      (entry) => (isObject(entry) && typeof entry.id === "string" ? [entry.id] : []),
    ),
  follow: () => new Follower(),
  conversations: {
    ...conversations,
    resolved: (body, items) => ({ ...body, input: resolvedItems(body, items) }),
  },
  listItems,
  deleted: (id) => ({ id, object: "response.deleted", deleted: true }),
  unknownAnswer: (id) =>
    new GatewayError("not-found", `Response with id '${id}' not found.`, { code: "response_not_found" }),
  unknownPrevious: (id, hint) =>
    invalidRequest(
      `Previous response with id '${id}' not found.${hint === undefined ? "" : ` ${hint}`}`,
      "previous_response_id",
      "previous_response_not_found",
    ),
  // As OpenAI answers for an item that it does not have.
  unknownItem: (id, hint) =>
    new GatewayError(
      "not-found",
      `Item with id '${id.slice(0, 200)}' not found.${hint === undefined ? "" : ` ${hint}`}`,
      { param: "input", code: "item_not_found" },
    ),
};

function ask({ previous_response_id: previous, store, input }: JsonObject): StoredAsk {
  return {
    ...(typeof previous === "string" && { previous }),
    references: list(input).flatMap((item) => referenceOf(item) ?? []),
    partial: list(input).flatMap((item) => partialOf(item) ?? []),
    ...(typeof store === "boolean" && { store }),
  };
}

/** The id that an item refers to; `undefined` for an item that refers to none. */
function referenceOf(item: Json): string | undefined {
  if (!isObject(item) || typeof item.id !== "string") return undefined;
  const isReference = item.type === "item_reference" || (item.type == null && item.role == null);
  return isReference ? item.id : undefined;
}

/** The member without which an item is completed by its id. The vendor has the rest, if it stores the item. */
const CONTENT: Readonly<Record<string, string>> = {
  reasoning: "encrypted_content",
  image_generation_call: "result",
};

/** The id of an item that a vendor completes; `undefined` for any other, and for ids of weir, which no vendor knows. */
function partialOf(item: Json): string | undefined {
  if (!isObject(item) || typeof item.id !== "string" || OWN_ID.test(item.id)) return undefined;
  const member = typeof item.type === "string" ? getOwn(CONTENT, item.type) : undefined;
  return member === undefined || text(item[member]) ? undefined : item.id;
}

/** References to unknown items stay: the decoder leaves them out and reports them. */
function expand(body: JsonObject, { before, items }: FoundItems): JsonObject {
  return { ...body, input: behindStored(sinceSummary(before), resolvedItems(body, items)) };
}

function resolvedItems({ input }: JsonObject, items: FoundItems["items"]): Json[] {
  return itemsOf(input).map((item) => items.get(referenceOf(item) ?? "") ?? item);
}

/** A summary of weir replaces what was said before it. */
function sinceSummary(items: readonly JsonObject[]): readonly JsonObject[] {
  const last = items.findLastIndex((item) => item.type === "compaction" && openSummary(item) !== undefined);
  return last < 0 ? items : items.slice(last);
}

/** `input` as items. */
function itemsOf(input: Json | undefined): readonly Json[] {
  if (typeof input !== "string") return list(input);
  return input === "" ? [] : [{ type: "message", role: "user", content: input }];
}

function detached({ previous_response_id: _, ...body }: JsonObject, storesThere: boolean): JsonObject {
  return {
    ...body,
    input: Array.isArray(body.input) ? body.input.flatMap(withoutOwnId) : body.input!,
    ...(!storesThere && { store: false }),
  };
}

/** Ids of weir's own: prefix of the type, `_w1`, 24 characters. */
const OWN_ID = /^[a-z]+_w1[a-z2-7]{24}$/;

/** The vendor looks an item up by its id, and does not know weir's. Reasoning without content is nothing else than its id. */
function withoutOwnId(item: Json): Json[] {
  if (!isObject(item) || typeof item.id !== "string" || !OWN_ID.test(item.id)) return [item];
  if (item.type === "reasoning" && typeof item.encrypted_content !== "string") return [];
  const { id: _, ...rest } = item;
  return [rest];
}

/** Control signals are no items: they are neither stored nor listed. */
function inputItems(body: JsonObject, answerId: string): StoredItem[] {
  return itemsOf(body.input)
    .filter((item): item is JsonObject => isObject(item) && !isTrigger(item))
    .map((value, position) => ({
      id: typeof value.id === "string" ? value.id : itemId(typeOf(value), answerId, "input", position),
      value,
    }));
}

function typeOf({ type }: JsonObject): string {
  return typeof type === "string" ? type : "message";
}

function split({ output, ...body }: JsonObject): ReturnType<StoredCodec["split"]> {
  const { id, status } = body;
  if (typeof id !== "string" || (status !== "completed" && status !== "incomplete")) return undefined;
  const items = list(output).filter(isObject);
  return {
    id,
    status,
    body,
    output: items.map((value, position) => ({
      id: typeof value.id === "string" ? value.id : itemId(typeOf(value), id, "output", position),
      value,
    })),
  };
}

function listItems(items: readonly StoredItem[], hasMore: boolean): JsonObject {
  return {
    object: "list",
    data: items.map(({ id, value }) => ({ ...value, id, type: typeOf(value) })),
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

const LAST: ReadonlySet<Json | undefined> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

const ITEM_DONE = "response.output_item.done";

class Follower implements AnswerFollower {
  readonly marks = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
    ITEM_DONE,
  ];
  /** The items by their index: the last event of some hosts has none. */
  readonly #items = new Map<number, JsonObject>();
  #id: Json | undefined;

  read({ data }: Frame): JsonObject | undefined {
    const event = parseJson(data);
    if (!isObject(event)) return undefined;
    const { type, response, item, output_index: index } = event;
    if (type === ITEM_DONE && isObject(item))
      // Some hosts send no index; their items come in order.
      this.#items.set(typeof index === "number" ? index : this.#items.size, item);
    if (!isObject(response)) return undefined;
    this.#id ??= response.id;
    if (!LAST.has(type)) return undefined;
    const isComplete = list(response.output).length > 0;
    const collected = [...this.#items].sort(([a], [b]) => a - b).map(([, value]) => value);
    return { ...response, id: this.#id!, output: isComplete ? response.output! : collected };
  }

  withStored(frame: Frame, isStored: boolean, conversation?: string | null): Frame | undefined {
    const event = parseJson(frame.data);
    if (!isObject(event) || !isObject(event.response)) return undefined;
    if (event.response.store === isStored && conversation === undefined) return undefined;
    const response = stored.withStored(event.response, isStored, conversation);
    return { ...frame, data: JSON.stringify({ ...event, response }) };
  }
}
