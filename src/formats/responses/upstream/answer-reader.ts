/** Reads events of a stream into canonical events; a JSON answer is read as a stream. */
import type { CodecContext } from "../../../core/context.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";
import { decodeStatus } from "../finish.ts";
import { decodeUsage } from "../usage.ts";
import { BlockOrder } from "./block-order.ts";
import { failureOf } from "./errors.ts";
import { createItemReader } from "./item-readers.ts";
import type { AnswerState, ItemReader } from "./reader.ts";

interface OpenItem {
  /** Absent: the host gave none. */
  id: string | undefined;
  type: Json | undefined;
  reader: ItemReader;
  isDone: boolean;
}

export class EventReader {
  readonly #state: AnswerState;
  /** By `output_index`. */
  readonly #items = new Map<number, OpenItem>();
  #events: ChatEvent[] = [];
  #hasStarted = false;

  constructor(context: CodecContext) {
    const ids = new AnswerIds(context.id);
    this.#state = {
      context,
      blocks: new BlockOrder((event) => this.#events.push(event)),
      callId: (id) => ids.take(id),
      toolCalls: 0,
      hasText: false,
      hasRefused: false,
    };
  }

  /** Reads one event; unknown types have no meaning. @throws GatewayError for a failure that the event reports */
  read(event: JsonObject): ChatEvent[] {
    this.#take(event);
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** The stream ended without a terminal event. @throws GatewayError always: the answer is not complete */
  end(): ChatEvent[] {
    throw incompleteStream();
  }

  #take(event: JsonObject): void {
    switch (event.type) {
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        return this.#start(event.response);
      case "response.output_item.added":
        if (isObject(event.item)) this.#item(this.#indexOf(event), event.item);
        return;
      case "response.output_item.done":
        if (isObject(event.item)) this.#settle(this.#indexOf(event), event.item);
        return;
      case "response.completed":
      case "response.incomplete":
        return this.#finish(event);
      case "response.failed":
      case "response.cancelled":
        throw failureOf(event);
      default:
        this.#open(event)?.reader.take(event);
    }
  }

  #start(response: Json | undefined): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const { id, model } = isObject(response) ? response : {};
    const { context } = this.#state;
    this.#events.push({
      type: "message-start",
      id: text(id) || context.id,
      model: text(model) || context.target.model,
    });
  }

  /** Some hosts send no index; then the event belongs to the item of its id, to the latest one, or to the next one. */
  #indexOf({ type, output_index: index, item_id: itemId, item }: JsonObject): number {
    if (typeof index === "number") return index;
    const named = isObject(item) ? item : undefined;
    const id = text(itemId) ?? text(named?.id);
    if (id !== undefined) for (const [known, open] of this.#items) if (open.id === id) return known;
    const last = Math.max(-1, ...this.#items.keys());
    const latest = this.#items.get(last);
    const isNext =
      !latest ||
      type === "response.output_item.added" ||
      (type === "response.output_item.done" && (latest.isDone || latest.type !== named?.type));
    return isNext ? last + 1 : last;
  }

  /** The item of a delta. Its kind follows from the delta if the host did not announce it. */
  #open(event: JsonObject): OpenItem | undefined {
    const type = itemTypeOf(event.type);
    if (type === undefined) return undefined;
    const index = this.#indexOf(event);
    const known = this.#items.get(index);
    if (known) return known.isDone ? undefined : known;
    return type === "message" || type === "reasoning" ? this.#item(index, { type }) : undefined;
  }

  #item(index: number, item: JsonObject): OpenItem {
    this.#start(undefined);
    const known = this.#items.get(index);
    if (known) return known;
    const reader = createItemReader(item, this.#state);
    const opened = { id: text(item.id), type: item.type, reader, isDone: false };
    this.#items.set(index, opened);
    return opened;
  }

  #settle(index: number, item: JsonObject): void {
    const open = this.#item(index, item);
    if (open.isDone) return;
    open.isDone = true;
    open.reader.settle(item);
  }

  #finish({ type, response: value }: JsonObject): void {
    const response = isObject(value) ? value : {};
    this.#start(response);
    this.#settleRest(list(response.output).filter(isObject));
    for (const { reader } of this.#items.values()) reader.end();
    const status = type === "response.incomplete" ? "incomplete" : "completed";
    const reason = decodeStatus({ ...response, status }, this.#state);
    const { brokenCall } = this.#state;
    if (brokenCall !== undefined && reason.kind !== "length")
      throw new GatewayError(
        "upstream",
        `The provider ended its answer inside the arguments of a call of the tool ${brokenCall}.`,
        { code: "invalid_tool_arguments" },
      );
    const usage = { ...NO_USAGE, ...decodeUsage(response) };
    this.#events.push({ type: "message-end", reason, usage });
  }

  /**
   * Reads items of the terminal event that no event of their own completed. Some hosts send an empty list there, and some
   * leave gaps between the indexes: an item counts only at its own index.
   */
  #settleRest(output: readonly JsonObject[]): void {
    if (Math.max(-1, ...this.#items.keys()) >= output.length) return;
    for (const [index, item] of output.entries()) {
      const known = this.#items.get(index);
      if (!known || known.type === item.type) this.#settle(index, item);
    }
  }
}

/** Beginnings of event types, and the type of item that they belong to. */
const ITEM_TYPES: readonly (readonly [prefix: string, type: string])[] = [
  ["response.output_text.", "message"],
  ["response.refusal.", "message"],
  ["response.content_part.", ""],
  ["response.reasoning_", "reasoning"],
  ["response.function_call_arguments.", "function_call"],
  ["response.custom_tool_call_input.", "custom_tool_call"],
];

function itemTypeOf(type: Json | undefined): string | undefined {
  return typeof type === "string" ? ITEM_TYPES.find(([prefix]) => type.startsWith(prefix))?.[1] : undefined;
}
