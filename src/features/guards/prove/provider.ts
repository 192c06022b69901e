/** The provider of a proof: it says back what it got, in its own format, cut as the cell wants it. */
import type { CodecContext } from "../../../core/context.ts";
import { type ChatEvent, NO_USAGE } from "../../../core/events.ts";
import type { Format } from "../../../core/format.ts";
import { isObject, type Json, parseJson } from "../../../core/json.ts";
import type {
  ByteReader,
  Piece,
  Receiver,
  UpstreamRequest,
  UpstreamResponse,
} from "../../../gateway/lanes/transport.ts";
import { writeFrame } from "../../../stream/sse.ts";

/** What the provider does in one cell. */
export interface Script {
  /** Expressions of the texts that it looks for and says back. Empty: it says {@link says}. */
  readonly looksFor: readonly RegExp[];
  readonly says: string;
  /** It says the text in the arguments of a tool call. */
  readonly inArguments: boolean;
  /** Characters of a piece of the text. */
  readonly size: number;
  /** Bytes of a piece of the stream; 0: each event is one. */
  readonly bytes: number;
}

/** Answers a request in a way of its own. */
export type Play = (request: UpstreamRequest) => UpstreamResponse;

export function bodyOf({ body }: Pick<UpstreamRequest, "body">): string {
  return Buffer.concat(body).toString();
}

/** What a provider got. */
export interface Got {
  readonly body: string;
  /** The texts that it was to find; `undefined` in place of one that is not there. */
  readonly found: readonly (string | undefined)[];
}

const CONTEXT: CodecContext = {
  ...{ id: "req_prove", startedAt: 0, model: "m", headers: new Headers(), sameFormat: false },
  target: { provider: "prove", model: "m", traits: {}, isVendor: false },
  toolNames: new Map(),
  reportLoss: () => {},
};

/** Finds the texts in the body of a request. Strings that are JSON count as what they mean. */
export function textsIn(value: Json | undefined, texts: string[] = []): string[] {
  if (typeof value === "string") {
    texts.push(value);
    const inner = value.startsWith("{") ? parseJson(value) : undefined;
    if (isObject(inner)) textsIn(inner, texts);
  } else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) textsIn(inner, texts);
  return texts;
}

/** @param stream as the provider learns of it: by the body or by the path */
export function answer(
  request: UpstreamRequest,
  { client }: Format,
  script: Script,
): { got: Got; response: UpstreamResponse } {
  const body = bodyOf(request);
  const parsed = parseJson(body);
  const texts = textsIn(parsed);
  const found = script.looksFor.map((one) =>
    texts.map((text) => one.exec(text)?.[0]).find((text) => text !== undefined),
  );
  const got = { body, found };
  if (request.url.endsWith("/embeddings")) return { got, response: embedded(parsed) };
  const says = script.looksFor.length > 0 ? found.join("\n") : script.says;
  const events = eventsOf(says, script);
  const { codec } = client!;
  const isStream = (isObject(parsed) && parsed.stream === true) || request.url.includes("stream");
  if (!isStream) return { got, response: json(codec.writeAnswer(events, CONTEXT)) };
  const writer = codec.writeStream(CONTEXT);
  const frames = [...events.flatMap((event) => writer.push(event)), ...writer.end()].map(writeFrame);
  const pieces =
    script.bytes === 0
      ? frames.map((frame) => Buffer.from(frame))
      : cut(Buffer.from(frames.join("")), script.bytes);
  return { got, response: new Streamed(pieces) };
}

function eventsOf(text: string, { inArguments, size }: Script): ChatEvent[] {
  const said = inArguments ? JSON.stringify({ to: text }) : text;
  const pieces: ChatEvent[] = [];
  for (let at = 0; at < said.length; at += size)
    pieces.push({ type: "block-delta", index: 0, delta: said.slice(at, at + size) });
  return [
    { type: "message-start", id: "a_1", model: "m" },
    {
      ...{ type: "block-start", index: 0 },
      block: inArguments
        ? { type: "tool-call", id: "call_1", name: "send", kind: "function" }
        : { type: "text" },
    },
    ...pieces,
    { type: "block-end", index: 0 },
    {
      type: "message-end",
      reason: { kind: inArguments ? "tool-calls" : "stop" },
      usage: { ...NO_USAGE, input: 5, output: 5 },
    },
  ];
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

function embedded(body: Json | undefined): UpstreamResponse {
  const inputs = isObject(body) && Array.isArray(body.input) ? body.input : [];
  const data = inputs.map((_, index) => ({ object: "embedding", index, embedding: [0.5, index] }));
  return json({ object: "list", data, model: "m", usage: { prompt_tokens: 2, total_tokens: 2 } });
}

export function json(body: Json | object, status = 200): UpstreamResponse {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

/** Pieces that a connection has at the same time. */
const AT_ONCE = 20;

/** A stream whose pieces come one by one. */
export class Streamed implements UpstreamResponse, ByteReader {
  readonly status = 200;
  readonly ok = true;
  readonly headers = new Headers({ "content-type": "text/event-stream" });
  readonly #pieces: readonly Uint8Array[];
  #at = 0;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  get body(): { getReader(): ByteReader } {
    return { getReader: () => this };
  }

  async bytes(): Promise<Uint8Array> {
    return Buffer.concat(this.#pieces.slice(this.#at));
  }

  async read(): Promise<Piece> {
    const value = this.#pieces[this.#at++];
    return value ? { done: false, value } : { done: true };
  }

  take(receiver: Receiver): void {
    if (this.#at % AT_ONCE === AT_ONCE - 1) return void setImmediate(() => this.#give(receiver));
    this.#give(receiver);
  }

  #give(receiver: Receiver): void {
    const value = this.#pieces[this.#at++];
    if (value) receiver.piece(value);
    else receiver.end();
  }

  async cancel(): Promise<void> {
    this.#at = this.#pieces.length;
  }
}
