/** The values that one call replaces, with their tokens. */
import { digestOf, LONG, SHORT, tokenOf } from "./token.ts";

/** A value in one spelling. */
interface Written {
  readonly kind: string;
  /** As all spellings have it. */
  readonly normal: string;
  readonly written: string;
}

/** What of a map is kept beside a stored answer. */
export type KeptMap = readonly (readonly [token: string, value: string])[];

export class CallMap {
  readonly #secret: Uint8Array;
  /** By token. */
  readonly #values = new Map<string, string>();
  /** By value as it is written. */
  readonly #tokens = new Map<string, string>();
  /** By kind and normal value: the digest, and the number of spellings. */
  readonly #known = new Map<string, { digest: string; forms: number }>();
  /** Digests that are taken, by their first characters. */
  readonly #owners = new Map<string, string>();

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Values by token, for the restoring of answers. */
  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /** Tokens by value. */
  get tokens(): ReadonlyMap<string, string> {
    return this.#tokens;
  }

  /** All values of a request at once: two of them may have the same short digest. */
  add(all: Iterable<Written>): void {
    const fresh = [...all].filter(({ written }) => !this.#tokens.has(written));
    for (const { kind, normal } of fresh) this.#claim(kind, normal);
    for (const { kind, normal, written } of fresh) {
      if (this.#tokens.has(written)) continue;
      const known = this.#known.get(`${kind}\0${normal}`)!;
      const token = tokenOf(kind, known.digest, ++known.forms);
      this.#tokens.set(written, token);
      this.#values.set(token, written);
    }
  }

  /** The token of a value that a model wrote by itself: the client gets no value for it. */
  tokenFor(kind: string, normal: string): string {
    return tokenOf(kind, digestOf(this.#secret, kind, normal).slice(0, SHORT), 1);
  }

  /** A text that only weir can make for another one. */
  mark(text: string): string {
    return digestOf(this.#secret, "mark", text);
  }

  /** Takes values of earlier turns, for the restoring of answers. */
  join(kept: KeptMap): void {
    for (const [token, value] of kept) if (!this.#values.has(token)) this.#values.set(token, value);
  }

  kept(): KeptMap {
    return [...this.#values];
  }

  #claim(kind: string, normal: string): void {
    const id = `${kind}\0${normal}`;
    if (this.#known.has(id)) return;
    const long = digestOf(this.#secret, kind, normal);
    const short = long.slice(0, SHORT);
    const place = `${kind}\0${short}`;
    const owner = this.#owners.get(place);
    if (owner === undefined) {
      this.#owners.set(place, id);
      this.#known.set(id, { digest: short, forms: 0 });
      return;
    }
    const first = this.#known.get(owner)!;
    if (first.forms === 0) first.digest = digestOf(this.#secret, kind, owner.slice(kind.length + 1));
    this.#known.set(id, { digest: long.slice(0, LONG), forms: 0 });
  }
}
