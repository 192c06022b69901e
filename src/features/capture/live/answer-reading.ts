/** Reads the pieces of a running answer, from any piece on, as parts with their texts. */
import type { ClientCodec } from "../../../core/format.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import type { AnswerText } from "../../../core/text-places.ts";
import type { Mask } from "../../../gateway/recording/meaning.ts";
import { SseParser } from "../../../stream/sse.ts";
import { HeldText } from "./held-text.ts";
import type { LivePart } from "./messages.ts";

type Places = ClientCodec["facts"]["places"];

interface OpenPart extends Omit<LivePart, "text"> {
  held: HeldText;
}

const KINDS: Readonly<Partial<Record<AnswerText["kind"], LivePart["kind"]>>> = {
  text: "text",
  reasoning: "reasoning",
  "tool-arguments": "call",
};

export class AnswerReading {
  readonly #places: Places;
  readonly #make: () => HeldText;
  readonly #parser = new SseParser();
  /** By channel; a channel begins a part anew where a tool is named. */
  readonly #open = new Map<string, OpenPart>();
  #last: OpenPart | undefined;
  /** Of the tool that was named last. */
  #name: string | undefined;
  #count = 0;

  /** @param places where the client's format has its texts; absent: nothing can be read @param patterns of the operator, global */
  constructor(places: Places, mask: Mask, patterns: readonly RegExp[]) {
    this.#places = places;
    this.#make = () => new HeldText(mask, patterns);
  }

  push(bytes: Uint8Array): LivePart[] {
    if (!this.#places) return [];
    const parts: LivePart[] = [];
    for (const { data } of this.#parser.push(bytes)) {
      const event = parseJson(data);
      if (isObject(event)) for (const text of this.#places.event(event)) this.#take(text, parts);
    }
    return parts;
  }

  /** No more comes. */
  end(): LivePart[] {
    return [...this.#open.values()].flatMap((part) => textOf(part, part.held.end()));
  }

  #take(text: AnswerText, parts: LivePart[]): void {
    const kind = KINDS[text.kind];
    if (text.kind === "name" && /(^|\.)name$/.test(text.path)) this.#named(text.get());
    if (kind === undefined || text.fixed === "encrypted") return;
    const member = text.path.slice(text.path.lastIndexOf(".") + 1);
    const isPiece = text.channel !== undefined;
    // Events that say the whole text once more have no pieces; arguments that are an object have none either.
    if (!isPiece && (kind !== "call" || text.isJson)) return;
    const value = isPiece ? text.get() : `${member}: ${text.get()}\n`;
    if (value === "") return;
    const part = this.#partOf(`${kind} ${text.channel ?? ""}`, kind);
    if (this.#last && this.#last !== part) parts.push(...textOf(this.#last, this.#last.held.pause()));
    this.#last = part;
    parts.push(...textOf(part, part.held.push(value)));
  }

  #named(name: string): void {
    if (name !== "") this.#name = name;
  }

  #partOf(channel: string, kind: LivePart["kind"]): OpenPart {
    const known = this.#open.get(channel);
    if (known && (kind !== "call" || this.#name === undefined)) return known;
    const name = kind === "call" ? this.#name : undefined;
    this.#name = undefined;
    const part = { part: this.#count++, kind, ...(name !== undefined && { name }), held: this.#make() };
    // What waits in an older part of the channel still comes at the end.
    if (known) this.#open.set(`${channel} ${known.part}`, known);
    this.#open.set(channel, part);
    return part;
  }
}

function textOf({ part, kind, name }: Omit<OpenPart, "held">, text: string): LivePart[] {
  return text === "" ? [] : [{ part, kind, ...(name !== undefined && { name }), text }];
}
