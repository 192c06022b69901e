/** Reads entries of a batch: see layout.ts. */
import type { Usage } from "../core/events.ts";
import type { Charge } from "./charge.ts";
import {
  ATTEMPT,
  ATTEMPT_BYTES,
  ATTEMPT_NUMBERS,
  CALL,
  CALL_BYTES,
  CALL_NUMBERS,
  ENTRY_WORDS,
  FLAGS,
  KINDS,
  PROMPT,
  PROMPT_WORDS,
  type Rest,
  TEXT_BITS,
  TEXT_SHIFT,
} from "./layout.ts";
import type { AttemptRecord, CallRecord, Entry, PromptRecord } from "./record.ts";

const WORD = 4;
const UNIT = 8;

/** Most texts that batches share, and the longest of them. Clients choose some. Characters. */
const SHARED = 20_000;
const LONGEST = 256;

/** Records with the same text have the same string, and with the same list the same array: comparing them is cheap. */
const texts = new Map<string, string>();
const lists = new Map<string, readonly string[]>();

function sharedText(text: string): string {
  if (text.length > LONGEST) return text;
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= SHARED) texts.clear();
  texts.set(text, text);
  return text;
}

function sharedList(list: readonly string[]): readonly string[] {
  const key = JSON.stringify(list);
  const known = lists.get(key);
  if (known) return known;
  if (lists.size >= SHARED) lists.clear();
  lists.set(key, Object.freeze(list));
  return list;
}

/** @throws Error if the bytes are no batch */
export function readPacked(bytes: Uint8Array): Entry[] {
  return new BatchReader(bytes).entries();
}

class BatchReader {
  readonly #bytes: Buffer;
  readonly #words: Int32Array;
  readonly #numbers: Float64Array;
  /** By number. */
  readonly #texts: (string | undefined)[] = [undefined];
  readonly #lists: (readonly string[] | undefined)[] = [undefined];
  /** Where the next text of the call begins. */
  #at = 0;

  constructor(given: Uint8Array) {
    // Numbers of 8 bytes are read at multiples of 8 only. The slice of a Buffer is no copy.
    const bytes = given.byteOffset % UNIT === 0 ? given : new Uint8Array(given);
    const { buffer, byteOffset, length } = bytes;
    if (length % UNIT !== 0) throw new Error("the batch has no whole entries");
    this.#bytes = Buffer.from(buffer, byteOffset, length);
    this.#words = new Int32Array(buffer, byteOffset, length / WORD);
    this.#numbers = new Float64Array(buffer, byteOffset, length / UNIT);
  }

  entries(): Entry[] {
    const words = this.#words;
    const entries: Entry[] = [];
    for (let at = 0; at < words.length;) {
      const length = words[at]!;
      if (length < UNIT || length % UNIT !== 0 || at + length / WORD > words.length)
        throw new Error("an entry of the batch has no valid length");
      const entry = this.#entry(at);
      if (entry) entries.push(entry);
      at += length / WORD;
    }
    return entries;
  }

  #entry(at: number): Entry | undefined {
    this.#at = (at + ENTRY_WORDS) * WORD;
    switch (this.#words[at + 1]) {
      case KINDS.call:
        return this.#call(at);
      case KINDS.json:
        return JSON.parse(this.#text()) as Entry;
      case KINDS.text:
        return this.#define(sharedText(this.#text()), undefined);
      case KINDS.list:
        return this.#define(undefined, sharedList(this.#list(at + ENTRY_WORDS)));
      default:
        throw new Error("the batch has an entry of an unknown kind");
    }
  }

  /** Texts and lists have numbers of one row. */
  #define(text: string | undefined, list: readonly string[] | undefined): undefined {
    this.#texts.push(text);
    this.#lists.push(list);
  }

  #list(at: number): string[] {
    const count = this.#words[at]!;
    return Array.from({ length: count }, (_, index) => this.#name(at + 1 + index)!);
  }

  /** The text whose number is at a place. */
  #name(at: number): string | undefined {
    const number = this.#words[at]!;
    const text = this.#texts[number];
    if (text === undefined && number !== 0) throw new Error("the batch lacks a text");
    return text;
  }

  #names(at: number): readonly string[] | undefined {
    const number = this.#words[at]!;
    const list = this.#lists[number];
    if (list === undefined && number !== 0) throw new Error("the batch lacks a list");
    return list;
  }

  /** The next text of the call. */
  #text(): string {
    const head = this.#words[this.#at >> 2]!;
    const length = head >> TEXT_SHIFT;
    const start = this.#at + WORD;
    const isWide = (head & TEXT_BITS.wide) !== 0;
    const end = start + (isWide ? 2 * length : length);
    if (length < 0 || end > this.#bytes.length) throw new Error("a text of the batch is cut");
    this.#at = (end + 3) & ~3;
    return isWide ? this.#bytes.toString("utf16le", start, end) : this.#bytes.toString("latin1", start, end);
  }

  #numberAt(at: number): number {
    return simple(this.#numbers[at]!);
  }

  /** @returns undefined for the mark of an absent number */
  #present(at: number): number | undefined {
    const value = this.#numbers[at]!;
    return Number.isNaN(value) ? undefined : simple(value);
  }

  /** The next number of the call, if it is present. */
  #next(): number | undefined {
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += UNIT;
    return Number.isNaN(value) ? undefined : simple(value);
  }

  #call(at: number): CallRecord {
    const words = this.#words;
    const number = at >> 1;
    const flags = words[at + CALL.flags]!;
    const count = words[at + CALL.attempts]!;
    const columns = words[at + CALL.columns]!;
    this.#at = at * WORD + CALL_BYTES + count * ATTEMPT_BYTES;
    const kind = this.#name(at + CALL.errorKind);
    const code = this.#name(at + CALL.errorCode);
    const attempts: AttemptRecord[] = [];
    for (let index = 0; index < count; index++)
      attempts.push(this.#attempt((at * WORD + CALL_BYTES + index * ATTEMPT_BYTES) / WORD));
    const call: CallRecord = {
      id: this.#text(),
      startedAt: this.#numberAt(number + CALL_NUMBERS.startedAt),
      ms: this.#numberAt(number + CALL_NUMBERS.ms),
      headMs: this.#present(number + CALL_NUMBERS.headMs),
      firstMs: this.#present(number + CALL_NUMBERS.firstMs),
      ownMs: this.#present(number + CALL_NUMBERS.ownMs),
      key: this.#name(at + CALL.key),
      path: this.#name(at + CALL.path),
      tags: this.#names(at + CALL.tags),
      format: this.#name(at + CALL.format)!,
      lane: this.#name(at + CALL.lane) as CallRecord["lane"],
      model: this.#name(at + CALL.model)!,
      stream: (flags & FLAGS.stream) !== 0,
      status: words[at + CALL.status]!,
      outcome: this.#name(at + CALL.outcome) as CallRecord["outcome"],
      refused: this.#name(at + CALL.refused) as CallRecord["refused"],
      error: kind === undefined ? undefined : code === undefined ? { kind } : { kind, code },
      finish: this.#name(at + CALL.finish),
      session: (flags & FLAGS.session) === 0 ? undefined : this.#text(),
      client: this.#name(at + CALL.client),
      prompt: (flags & FLAGS.prompt) === 0 ? undefined : this.#prompt(),
      attempts,
    };
    for (let index = 0; index < columns; index++) this.#column(call);
    if ((flags & FLAGS.rest) !== 0) addRest(call, JSON.parse(this.#text()) as Rest);
    return call;
  }

  #attempt(at: number): AttemptRecord {
    const number = at >> 1;
    return {
      provider: this.#name(at + ATTEMPT.provider)!,
      deployment: this.#name(at + ATTEMPT.deployment)!,
      model: this.#name(at + ATTEMPT.model)!,
      class: this.#name(at + ATTEMPT.class) as AttemptRecord["class"],
      ms: this.#numberAt(number + ATTEMPT_NUMBERS.ms),
      usage: {
        input: this.#numberAt(number + ATTEMPT_NUMBERS.input),
        cacheRead: this.#numberAt(number + ATTEMPT_NUMBERS.cacheRead),
        cacheWrite: this.#numberAt(number + ATTEMPT_NUMBERS.cacheWrite),
        output: this.#numberAt(number + ATTEMPT_NUMBERS.output),
        reasoning: this.#numberAt(number + ATTEMPT_NUMBERS.reasoning),
        cacheWrite1h: this.#present(number + ATTEMPT_NUMBERS.cacheWrite1h),
        tier: this.#name(at + ATTEMPT.tier),
        known: this.#name(at + ATTEMPT.known) as Usage["known"],
      },
      charge: {
        state: this.#name(at + ATTEMPT.state) as Charge["state"],
        cost: this.#numberAt(number + ATTEMPT_NUMBERS.cost),
        price: this.#name(at + ATTEMPT.price),
        doubt: this.#name(at + ATTEMPT.doubt) as Charge["doubt"],
      },
      held: this.#numberAt(number + ATTEMPT_NUMBERS.held),
      expected: this.#present(number + ATTEMPT_NUMBERS.expected),
      accounts: this.#names(at + ATTEMPT.accounts)!,
    };
  }

  #prompt(): PromptRecord {
    const words = this.#words;
    const at = this.#at >> 2;
    const count = words[at + PROMPT.parts]!;
    const parts: [string, number][] = [];
    for (let index = 0; index < count; index++) {
      const part = at + PROMPT_WORDS + 2 * index;
      parts.push([this.#name(part)!, words[part + 1]!]);
    }
    this.#at += (PROMPT_WORDS + 2 * count) * WORD;
    const saved = this.#next();
    const write = this.#next();
    const input = this.#next();
    const dearer = write === undefined || input === undefined ? undefined : { write, input };
    return { parts, head: words[at + PROMPT.head]!, hashes: this.#text(), saved, dearer };
  }

  #column(call: CallRecord): void {
    const name = this.#name(this.#at >> 2)!;
    this.#at += WORD;
    const isJson = (this.#words[this.#at >> 2]! & TEXT_BITS.json) !== 0;
    const text = this.#text();
    (call as unknown as Record<string, unknown>)[name] = isJson ? JSON.parse(text) : text;
  }
}

/** An integer as the runtime has those of JSON: a database gets it as an integer, and zero has no sign. */
function simple(value: number): number {
  const integer = value | 0;
  return integer === value ? integer : value;
}

function addRest(call: CallRecord, { record, attempts }: Rest): void {
  Object.assign(call, record);
  attempts?.forEach(({ usage, ...more }, index) => {
    const attempt = call.attempts[index]!;
    Object.assign(attempt, more);
    Object.assign(attempt.usage, usage);
  });
}
