/**
 * A guard as a feature would be one: it replaces values by tokens in requests, and restores them in answers. It knows its values;
 * all else is as a real one needs it.
 */
import type { ClientCodec } from "../../src/core/format.ts";
import { isObject, parseJson } from "../../src/core/json.ts";
import type { AnswerText, Text, TextPlaces } from "../../src/core/text-places.ts";
import { type ByteSource, Passed } from "../../src/gateway/delivery/stream.ts";
import type { Receiver } from "../../src/gateway/lanes/transport.ts";
import type { Opened } from "../../src/gateway/lanes/lane.ts";
import type { Edited, Entry, NamedPart, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { readJson, withStrings } from "../../src/stream/json-nodes.ts";
import { writeFrame } from "../../src/stream/sse.ts";

/** Values with their tokens. */
export type Vault = ReadonlyMap<string, string>;

/** A part that guards the calls of clients at the outermost place. */
export function guardPart(vault: Vault): NamedPart<WorkerHost, WorkerPart> {
  const guard = new Guard(vault);
  const run = (entry: Entry, next: (edited?: Edited) => Promise<Opened>) => guard.run(entry, next);
  const part: WorkerPart = { seams: () => ({ around: { at: "guard", run } }) };
  return { name: "guard", load: async () => ({ start: () => part }) };
}

class Guard {
  readonly #vault: Vault;
  readonly #values: ReadonlyMap<string, string>;

  constructor(vault: Vault) {
    this.#vault = vault;
    this.#values = new Map([...vault].map(([value, token]) => [token, value]));
  }

  async run(entry: Entry, next: (edited?: Edited) => Promise<Opened>): Promise<Opened> {
    const client: Pick<ClientCodec, "facts"> = entry.format.client;
    const places = client.facts.places!;
    const opened = await next(this.#edited(entry, places));
    if (opened.kind === "stream")
      return { ...opened, source: new RestoredSource(opened.source, places, this.#values) };
    const body = parseJson(
      typeof opened.body === "string" ? opened.body : new TextDecoder().decode(opened.body),
    );
    if (!isObject(body)) return opened;
    for (const text of places.answer(body))
      if (!text.fixed) text.set(restored(text.get(), text, this.#values));
    return { ...opened, body: JSON.stringify(body) };
  }

  #edited({ bytes }: Entry, places: TextPlaces): Edited | undefined {
    if (bytes.length === 0) return undefined;
    const texts = [];
    for (const place of places.request(bytes)) {
      const given = place.read();
      let text = given;
      for (const [value, token] of this.#vault) {
        text = text.replaceAll(value, token);
        if (place.isJson) text = text.replaceAll(escaped(value), token);
      }
      if (text !== given && !place.fixed) texts.push({ start: place.start, end: place.end, text });
    }
    if (texts.length === 0) return undefined;
    const edited = withStrings(bytes, texts);
    const members = new Map(readJson(edited).entries());
    return {
      bytes: edited,
      spanOf: (name) => members.get(name),
      get body() {
        return JSON.parse(Buffer.from(edited).toString());
      },
    };
  }
}

/** A text as it is written within JSON. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function restored(
  text: string,
  { isJson }: Pick<Text, "isJson">,
  values: ReadonlyMap<string, string>,
): string {
  for (const [token, value] of values) text = text.replaceAll(token, isJson ? escaped(value) : value);
  return text;
}

/** An event that is not sent yet. */
interface Waiting {
  /** The event as it came. */
  raw: string;
  event?: string;
  data?: object;
  isChanged: boolean;
}

/** Pieces whose texts may end within a token. */
interface Channel {
  readonly isJson: boolean;
  readonly pieces: { text: AnswerText; of: Waiting }[];
}

/** Restores a stream. An event waits while a text up to it ends with what may become a token. */
class RestoredSource extends Passed {
  readonly #places: TextPlaces;
  readonly #values: ReadonlyMap<string, string>;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #waiting: Waiting[] = [];
  readonly #channels = new Map<string, Channel>();
  /** Tells the receiver the end, behind the last piece. */
  #ending: (() => void) | undefined;

  constructor(inner: ByteSource, places: TextPlaces, values: ReadonlyMap<string, string>) {
    super(inner);
    this.#places = places;
    this.#values = values;
  }

  protected override takeInto(receiver: Receiver): void {
    if (this.#ending) this.#ending();
    else super.takeInto(receiver);
  }

  override piece(bytes: Uint8Array): void {
    const raws = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split(/(?<=\n\r?\n)/);
    this.#rest = /\n\r?\n$/.test(raws.at(-1)!) ? "" : raws.pop()!;
    for (const raw of raws) this.#read(raw);
    for (const [name, channel] of this.#channels) this.#settle(name, channel, false);
    if (!this.#send()) this.takeInto(this);
  }

  override end(): void {
    this.#finish(() => super.end());
  }

  override fail(thrown: unknown): void {
    this.#finish(() => super.fail(thrown));
  }

  /** This source gives whole events. */
  override beforeError(): string {
    return "";
  }

  #finish(ending: () => void): void {
    this.#ending = ending;
    for (const [name, channel] of this.#channels) this.#settle(name, channel, true);
    if (!this.#send()) ending();
  }

  #read(raw: string): void {
    const data = parseJson(/^data: ?(.*)$/m.exec(raw)?.[1] ?? "");
    const event = /^event: ?(.*)$/m.exec(raw)?.[1];
    const waiting: Waiting = { raw, isChanged: false, ...(event !== undefined && { event }) };
    this.#waiting.push(waiting);
    if (!isObject(data)) return;
    waiting.data = data;
    for (const text of this.#places.event(data)) {
      if (text.fixed) continue;
      if (text.channel === undefined) change(waiting, text, restored(text.get(), text, this.#values));
      else {
        const name = `${text.kind} ${text.channel}`;
        const channel = this.#channels.get(name) ?? { isJson: text.isJson === true, pieces: [] };
        this.#channels.set(name, channel);
        channel.pieces.push({ text, of: waiting });
      }
    }
  }

  /** The first piece of a channel gets the text of all that waited for a token. */
  #settle(name: string, { isJson, pieces }: Channel, isLast: boolean): void {
    const joined = pieces.map(({ text }) => text.get()).join("");
    if (!isLast && [...this.#values.keys()].some((token) => endsWithin(joined, token))) return;
    this.#channels.delete(name);
    const whole = restored(joined, isJson ? { isJson } : {}, this.#values);
    if (whole === joined) return;
    pieces.forEach(({ text, of }, index) => change(of, text, index === 0 ? whole : ""));
  }

  /** @returns whether there was something to send */
  #send(): boolean {
    const held = new Set([...this.#channels.values()].flatMap(({ pieces }) => pieces.map(({ of }) => of)));
    const end = this.#waiting.findIndex((one) => held.has(one));
    const sent = this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
    if (sent.length === 0) return false;
    super.piece(Buffer.from(sent.map(written).join("")));
    return true;
  }
}

function change(waiting: Waiting, text: AnswerText, to: string): void {
  if (to === text.get()) return;
  text.set(to);
  waiting.isChanged = true;
}

/** An event that did not change is sent byte for byte. */
function written({ raw, event, data, isChanged }: Waiting): string {
  return isChanged ? writeFrame({ ...(event !== undefined && { event }), data: JSON.stringify(data) }) : raw;
}

/** Whether a text ends with the beginning of a token. */
function endsWithin(text: string, token: string): boolean {
  for (let length = Math.min(text.length, token.length - 1); length > 0; length--)
    if (text.endsWith(token.slice(0, length))) return true;
  return false;
}
