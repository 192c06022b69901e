/** The headers of a client that an outline keeps: those that weir reads and those that go on to a provider. */
import { isCredential } from "../../../core/client-headers.ts";
import type { Format } from "../../../core/format.ts";
import { SESSION_HEADERS } from "../../../formats/shared/session.ts";
import type { HeaderReader } from "../../../core/headers.ts";
import type { Placeholders } from "./placeholders.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Headers of weir's own. */
const OWN = "x-weir-";

/** Headers that are remembered at most. */
const MOST_VALUES = 1_024;

const BETWEEN = /([,;=\s]+)/;

export class KeptHeaders {
  readonly #names = new Set(["accept", "content-type", ...SESSION_HEADERS]);
  readonly #beginnings: string[] = [];
  readonly #words: Vocabulary;
  /** What is kept of a header: clients send the same ones again. */
  readonly #values = new Map<string, string>();

  constructor(formats: Iterable<Format>, words: Vocabulary) {
    this.#words = words;
    for (const { upstream } of formats)
      for (const name of upstream?.address.requestHeaders ?? [])
        if (name.endsWith("*")) this.#beginnings.push(name.slice(0, -1));
        else this.#names.add(name);
  }

  /** @param name in lower case */
  has(name: string): boolean {
    if (isCredential(name)) return false;
    return (
      name.startsWith(OWN) || this.#names.has(name) || this.#beginnings.some((one) => name.startsWith(one))
    );
  }

  /** An id becomes another one, and a word of weir's own headers stays if weir knows it. */
  of(headers: HeaderReader, made: Placeholders): Record<string, string> {
    const kept: Record<string, string> = {};
    headers.forEach((value, name) => {
      if (this.has(name)) kept[name] = this.#valueOf(name, value, made);
    });
    return kept;
  }

  #valueOf(name: string, value: string, made: Placeholders): string {
    const key = `${name}:${value}`;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const isId = name.endsWith("-id") || SESSION_HEADERS.includes(name);
    const keep = (word: string) => !isId && (this.#words.knows(word) || word === "*/*");
    const parts = value.split(BETWEEN);
    const kept = parts.map((part, at) => (at % 2 === 1 || keep(part) ? part : made.name(part))).join("");
    if (this.#values.size >= MOST_VALUES) this.#values.clear();
    this.#values.set(key, kept);
    return kept;
  }
}
