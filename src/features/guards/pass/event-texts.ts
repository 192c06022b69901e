/** Reads the texts of streamed events. Most events are like the one before, but for one text: they need no parsing. */
import type { AnswerText, TextPlaces } from "../../../core/text-places.ts";
import type { StreamEvent } from "./events.ts";

/** What an event has for guards. */
export interface EventTexts {
  readonly texts: readonly AnswerText[];
  /** Beginnings of the names of channels that get no more text. */
  readonly closed: readonly string[];
}

const NONE: readonly string[] = [];

export class EventReader {
  readonly #places: TextPlaces;
  #likeness: Likeness | undefined;

  constructor(places: TextPlaces) {
    this.#places = places;
  }

  /** @returns undefined for a comment, and for what is no object */
  read(event: StreamEvent): EventTexts | undefined {
    const like = this.#likeness?.textOf(event.raw);
    if (like) return { texts: [like], closed: NONE };
    const data = event.parsed();
    if (!data) return undefined;
    const texts = [...this.#places.event(data)];
    const closed = this.#places.closed?.(data) ?? NONE;
    if (texts.length === 1 && closed.length === 0)
      this.#likeness = likenessOf(event.raw, texts[0]!) ?? this.#likeness;
    return { texts, closed };
  }
}

/** Characters that end a string of JSON or a line, and the one that begins an escape. */
const NOT_PLAIN = /["\\\0-\x1f]/;

/** @returns undefined: it is not sure where the text is */
function likenessOf(raw: string, text: AnswerText): Likeness | undefined {
  // Without escapes, each string of the event is there as it is.
  if (text.channel === undefined || raw.includes("\\")) return undefined;
  const written = `"${text.get()}"`;
  const at = raw.indexOf(written);
  if (at < 0 || raw.indexOf(written, at + 1) >= 0) return undefined;
  return new Likeness(text, raw.slice(0, at + 1), raw.slice(at + written.length - 1));
}

/** An event with one text, which is a piece of a channel. */
class Likeness {
  readonly #text: AnswerText;
  readonly #before: string;
  readonly #behind: string;

  constructor(text: AnswerText, before: string, behind: string) {
    this.#text = text;
    this.#before = before;
    this.#behind = behind;
  }

  /** @returns undefined: the event differs in more than the text */
  textOf(raw: string): AnswerText | undefined {
    const [start, end] = [this.#before.length, raw.length - this.#behind.length];
    if (end < start || !raw.startsWith(this.#before) || !raw.endsWith(this.#behind)) return undefined;
    const piece = raw.slice(start, end);
    return NOT_PLAIN.test(piece) ? undefined : { ...this.#text, get: () => piece };
  }
}
