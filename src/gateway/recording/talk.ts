/** Reads the two bodies of a recorded call as a conversation, whatever the format of its client was. */
import type { Block, ChatRequest, Source } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { Format } from "../../core/format.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import { SseParser } from "../../stream/sse.ts";

/** A part of a turn. `bytes`: size of data that is left out. */
export interface SpokenPart {
  kind: "text" | "reasoning" | "refusal" | "call" | "result" | "image" | "audio" | "document" | "other";
  text?: string;
  name?: string;
  id?: string;
  media?: string;
  bytes?: number;
  failed?: true;
}

export interface SpokenTurn {
  role: "system" | "user" | "assistant";
  parts: SpokenPart[];
}

export interface Spoken {
  turns: SpokenTurn[];
  answer: SpokenPart[];
  /** Names of the tools that the request offers. */
  tools: string[];
  /** Bodies that could not be read to their end. */
  unread?: ("request" | "answer")[];
}

/** The bodies as text, of which only the beginning may be there. */
export interface Bodies {
  id: string;
  format: string;
  request: string;
  answer: string;
}

export function spokenIn(bodies: Bodies, formats: ReadonlyMap<string, Format>): Spoken {
  const format = formats.get(bodies.format);
  const request = format && requestOf(bodies, format);
  const answer = format && answerOf(bodies, format, request);
  const unread = [
    ...(request ? [] : (["request"] as const)),
    ...(answer?.isWhole ? [] : (["answer"] as const)),
  ];
  return {
    turns: (request?.turns ?? []).map(({ role, blocks }) => ({ role, parts: blocks.flatMap(partsOf) })),
    answer: answer?.parts ?? [],
    tools: (request?.tools ?? []).map(({ name }) => name),
    ...(unread.length > 0 && { unread }),
  };
}

function requestOf({ id, request }: Bodies, { client }: Format): ChatRequest | undefined {
  const body = parseJson(request);
  if (!isObject(body) || !client) return undefined;
  try {
    return client.codec.decodeRequest(body, contextOf(id, String(body["model"] ?? "")));
  } catch {
    return undefined;
  }
}

function contextOf(id: string, model: string, request?: ChatRequest): CodecContext {
  return {
    ...{ id, startedAt: 0, model, sameFormat: false },
    headers: new Headers(),
    target: { provider: "", model, traits: {}, isVendor: false },
    ...(request && { request }),
    toolNames: new Map(),
    reportLoss() {},
  };
}

function answerOf(bodies: Bodies, { client, upstream }: Format, request?: ChatRequest) {
  const codec = upstream?.codec ?? client?.codec.reader;
  if (!codec) return undefined;
  const context = contextOf(bodies.id, request?.model ?? "", request);
  const said = new Answer();
  try {
    const body: unknown = parseJson(bodies.answer);
    if (isObject(body)) for (const event of codec.readAnswer(body as JsonObject, context)) said.add(event);
    else {
      const reader = codec.readStream(context);
      for (const frame of framesOf(bodies.answer, client?.codec.framing.lines))
        if (!said.isWhole) for (const event of reader.push(frame)) said.add(event);
      if (!said.isWhole) for (const event of reader.end()) said.add(event);
    }
  } catch {
    // What came before is shown.
  }
  return said;
}

function framesOf(text: string, isLines = false): { data: string }[] {
  if (!isLines) return new SseParser().push(Buffer.from(text));
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [{ data: line }]));
}

/** The blocks of an answer from its events. */
class Answer {
  readonly #parts = new Map<number, SpokenPart>();
  isWhole = false;

  get parts(): SpokenPart[] {
    return [...this.#parts.values()].filter(({ kind, text }) => kind === "call" || text !== "");
  }

  add(event: ChatEvent): void {
    if (event.type === "message-end") this.isWhole = true;
    if (event.type === "block-start") this.#parts.set(event.index, begun(event.block));
    const part = "index" in event ? this.#parts.get(event.index) : undefined;
    if (!part) return;
    if (event.type === "block-delta") part.text = (part.text ?? "") + event.delta;
    if (event.type === "block-end" && event.result) part.text = resultOf(part.text, event.result);
  }
}

type Started = Extract<ChatEvent, { type: "block-start" }>["block"];
type Result = NonNullable<Extract<ChatEvent, { type: "block-end" }>["result"]>;

function begun(block: Started): SpokenPart {
  switch (block.type) {
    case "tool-call":
      return { kind: "call", name: block.name, id: block.id, text: "" };
    case "hosted-tool":
      return { kind: "call", name: block.name === "" ? block.server : block.name, id: block.id, text: "" };
    case "image":
      return { kind: "image", media: block.mediaType, bytes: sizeOf(block.data) };
    case "foreign":
      return { kind: "other", name: block.format, text: JSON.stringify(block.value) };
    default:
      return { kind: block.type, text: "" };
  }
}

function resultOf(input = "", result: Result): string {
  const output = "output" in result ? result.output : "error" in result ? result.error : undefined;
  return output === undefined ? input : `${input}\n→ ${output}`;
}

function partsOf(block: Block): SpokenPart[] {
  switch (block.type) {
    case "text":
      return block.onlyFor === undefined ? [{ kind: "text", text: block.text }] : [];
    case "refusal":
      return [{ kind: "refusal", text: block.text }];
    case "reasoning":
      return block.text === "" ? [] : [{ kind: "reasoning", text: block.text }];
    case "tool-call":
      return [{ kind: "call", name: block.name, id: block.id, text: block.input }];
    case "tool-result":
      return [resultPart(block), ...block.blocks.flatMap(partsOf).filter(({ kind }) => kind !== "text")];
    case "image":
      return [{ kind: "image", ...sourceOf(block.source) }];
    case "audio":
      return [{ kind: "audio", media: block.format, bytes: sizeOf(block.data) }];
    case "document":
      return [documentPart(block)];
    case "foreign":
      return [{ kind: "other", name: block.format, text: block.text ?? JSON.stringify(block.value) }];
  }
}

function resultPart({ id, name, blocks, error }: Extract<Block, { type: "tool-result" }>): SpokenPart {
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { kind: "result", id, ...(name !== undefined && { name }), text, ...(error && { failed: true }) };
}

function documentPart({ source, title }: Extract<Block, { type: "document" }>): SpokenPart {
  const named = { kind: "document" as const, ...(title !== undefined && { name: title }) };
  if (source.type === "text") return { ...named, text: source.text };
  if (source.type !== "blocks") return { ...named, ...sourceOf(source) };
  const texts = source.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return { ...named, text: texts.join("\n") };
}

function sourceOf(source: Source): Pick<SpokenPart, "text" | "media" | "bytes"> {
  if (source.type === "url") return { text: source.url };
  if (source.type === "file") return { text: source.id };
  return { media: source.mediaType, bytes: sizeOf(source.data) };
}

/** Long data is recorded as its digest, with the number of its characters. */
const DIGEST = /^sha256:[0-9a-f]{16} ?\((\d+) ?characters\)$/;

/** @param data base64 @returns bytes */
function sizeOf(data: string): number {
  const length = Number(DIGEST.exec(data)?.[1] ?? data.length);
  return Math.floor((length * 3) / 4);
}
