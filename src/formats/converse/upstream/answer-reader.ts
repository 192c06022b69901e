/**
 * Reads the events of a stream into canonical events; a JSON answer is read as a stream. Text and reasoning have no start
 * event: their first delta opens the block.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { malformed, text } from "../../shared/read.ts";
import { escapeId } from "../call-ids.ts";
import { decodeStopReason, failureOf } from "../finish.ts";
import { modelFacts } from "../models.ts";
import { decodeUsage } from "../usage.ts";
import {
  type BlockReader,
  createCallReader,
  type Emit,
  ForeignReader,
  ReasoningReader,
  TextReader,
} from "./block-readers.ts";

export class EventReader {
  readonly #context: CodecContext;
  readonly #emit: Emit;
  /** Open calls and foreign blocks by the provider's index. */
  readonly #open = new Map<number, BlockReader>();
  /**
   * The open text or reasoning. A text stays open behind its end until another block begins, because citations of a text
   * may arrive as blocks of their own.
   */
  #prose: { reader: TextReader | ReasoningReader; index: number } | undefined;
  #events: ChatEvent[] = [];
  #started = false;
  #blocks = 0;
  #calls = 0;
  #usage: Usage = NO_USAGE;
  #counted = false;
  #reason: FinishReason | undefined;
  #ended = false;

  constructor(context: CodecContext) {
    this.#context = context;
    const ids = new AnswerIds(context.id);
    const { escapesIds } = modelFacts(context.target.model);
    this.#emit = {
      start: (block) => {
        if (block.type === "tool-call") this.#calls++;
        this.#events.push({ type: "block-start", index: this.#blocks, block });
        return this.#blocks++;
      },
      callId: (id) => ids.take(escapesIds ? escapeId(id) : id),
      push: (event) => this.#events.push(event),
    };
  }

  /**
   * Reads one event. Unknown events are ignored, because the service adds new ones.
   * @throws GatewayError `upstream` for an event that is not allowed at its position, and for a stop reason that means a failure
   */
  read(event: string | undefined, data: JsonObject): ChatEvent[] {
    switch (event) {
      case "contentBlockDelta":
        this.#start();
        this.#readDelta(data);
        break;
      case "contentBlockStart":
        this.#start();
        this.#readStart(data);
        break;
      case "contentBlockStop":
        this.#endBlock(indexOf(data));
        break;
      case "messageStart":
        this.#start();
        break;
      case "messageStop":
        this.#readStop(data);
        break;
      case "metadata":
        this.#readMetadata(data);
        break;
    }
    return this.#drain();
  }

  /** Ends the answer without `metadata`. @throws GatewayError if there was no stop reason */
  end(): ChatEvent[] {
    if (this.#reason === undefined) throw incompleteStream();
    this.#end(this.#reason);
    return this.#drain();
  }

  #drain(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({ type: "message-start", id: this.#context.id, model: this.#context.target.model });
  }

  #readDelta(data: JsonObject): void {
    const { delta } = data;
    if (!isObject(delta)) throw malformed("contentBlockDelta");
    const index = indexOf(data);
    if (typeof delta.text === "string") {
      if (delta.text !== "") this.#text(index).grow(delta.text);
    } else if (isObject(delta.reasoningContent)) this.#reasoning(index).grow(delta.reasoningContent);
    else if (delta.citation !== undefined) this.#cite(index, delta.citation);
    else this.#open.get(index)?.grow(delta);
  }

  #text(index: number): TextReader {
    if (this.#prose?.reader instanceof TextReader) return this.#prose.reader;
    this.#endAll();
    const reader = new TextReader(this.#emit);
    this.#prose = { reader, index };
    return reader;
  }

  #reasoning(index: number): ReasoningReader {
    const open = this.#prose;
    if (open?.reader instanceof ReasoningReader && open.index === index) return open.reader;
    this.#endAll();
    const reader = new ReasoningReader(this.#context, this.#emit);
    this.#prose = { reader, index };
    return reader;
  }

  /** Only citations of web pages have a URL that other formats can use. */
  #cite(index: number, citation: Json): void {
    const web = isObject(citation) && isObject(citation.location) ? citation.location.web : undefined;
    if (isObject(citation) && isObject(web) && typeof web.url === "string")
      this.#text(index).cite({ url: web.url, title: text(citation.title) ?? text(web.domain) });
  }

  #readStart(data: JsonObject): void {
    const { start } = data;
    const index = indexOf(data);
    if (!isObject(start) || Object.keys(start).length === 0) return;
    const call =
      isObject(start.toolUse) && start.toolUse.type !== "server_tool_use" ? start.toolUse : undefined;
    this.#endProse();
    const overlaps = call && [...this.#open.values()].every((open) => !(open instanceof ForeignReader));
    if (!overlaps) this.#endAll();
    if (this.#open.has(index)) this.#endBlock(index);
    const reader = call
      ? createCallReader(call, this.#context, this.#emit)
      : new ForeignReader(start, this.#emit);
    this.#open.set(index, reader);
  }

  #endBlock(index: number): void {
    const reader = this.#open.get(index);
    if (reader) {
      this.#open.delete(index);
      reader.end();
    } else if (this.#prose?.reader instanceof ReasoningReader && this.#prose.index === index)
      this.#endProse();
  }

  #endProse(): void {
    const prose = this.#prose;
    this.#prose = undefined;
    prose?.reader.end();
  }

  #endAll(): void {
    this.#endProse();
    for (const reader of this.#open.values()) reader.end();
    this.#open.clear();
  }

  #readStop(data: JsonObject): void {
    if (typeof data.stopReason !== "string") throw malformed("an answer without a stop reason");
    const failure = failureOf(data);
    if (failure) throw failure;
    this.#start();
    this.#endAll();
    this.#reason = decodeStopReason(data);
    if (this.#counted) this.#end(this.#reason);
  }

  /** The service sends the counts behind the stop reason. */
  #readMetadata(data: JsonObject): void {
    const usage = decodeUsage(data);
    if (usage) {
      this.#start();
      this.#usage = mergeUsage(this.#usage, usage);
      this.#events.push({ type: "usage", usage: this.#usage });
    }
    this.#counted = true;
    if (this.#reason) this.#end(this.#reason);
  }

  #end(reason: FinishReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.push({ type: "message-end", reason: this.#settled(reason), usage: this.#usage });
  }

  /** Calls of server tools, and calls that are the answer itself, are no calls of the client's tools. */
  #settled(reason: FinishReason): FinishReason {
    if (reason.kind === "tool-calls" && this.#calls === 0) return { ...reason, kind: "stop" };
    return reason.kind === "stop" && this.#calls > 0 ? { ...reason, kind: "tool-calls" } : reason;
  }
}

function indexOf({ contentBlockIndex: index }: JsonObject): number {
  if (typeof index !== "number") throw malformed("an event without an index");
  return index;
}
