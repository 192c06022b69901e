/** Writes records of calls as entries of a batch: see ../layout.ts. */
import type { Usage } from "../../core/events.ts";
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
} from "../layout.ts";
import {
  type AttemptRecord,
  type CallRecord,
  type Entry,
  type PromptRecord,
  RECORD_MEMBERS,
} from "../record.ts";
import { BatchNames } from "./names.ts";
import { Scratch } from "./scratch.ts";

/** Gets an entry, which is valid until it returns. @param length in words */
export type AddEntry = (words: Int32Array, length: number) => void;

const WORD = 4;
/** In the order in which `recordOf` makes them. */
const MEMBERS: readonly string[] = [...RECORD_MEMBERS];

export class RecordWriter {
  readonly #add: AddEntry;
  readonly #call = new Scratch();
  readonly #name = new Scratch();
  readonly #names = new BatchNames({
    text: (text) => this.#text(text),
    list: (ids) => this.#list(ids),
  });

  constructor(add: AddEntry) {
    this.#add = add;
  }

  /** What is written from now on is of another batch. */
  begin(): void {
    this.#names.begin();
  }

  /** Writes a price, or a record that has no other form. */
  json(entry: Entry): void {
    const call = this.#call;
    const length = call.textEntry(KINDS.json, JSON.stringify(entry));
    this.#add(call.words, length);
  }

  record(record: CallRecord): void {
    if (!fits(record)) return this.json(record);
    const { attempts } = record;
    const end = CALL_BYTES + attempts.length * ATTEMPT_BYTES;
    this.#call.reserve(end);
    this.#writeCall(record);
    for (let at = 0; at < attempts.length; at++)
      this.#writeAttempt(attempts[at]!, CALL_BYTES + at * ATTEMPT_BYTES);
    const length = this.#call.close(KINDS.call, this.#writeTexts(record, end));
    this.#add(this.#call.words, length);
  }

  #text(text: string): void {
    const length = this.#name.textEntry(KINDS.text, text);
    this.#add(this.#name.words, length);
  }

  #list(ids: readonly number[]): void {
    const name = this.#name;
    const start = ENTRY_WORDS + 1;
    name.reserve((start + ids.length + 1) * WORD);
    name.words[ENTRY_WORDS] = ids.length;
    for (let at = 0; at < ids.length; at++) name.words[start + at] = ids[at]!;
    const length = name.close(KINDS.list, (start + ids.length) * WORD);
    this.#add(name.words, length);
  }

  #writeCall(record: CallRecord): void {
    const { words, numbers } = this.#call;
    const names = this.#names;
    words[CALL.attempts] = record.attempts.length;
    words[CALL.status] = record.status;
    words[CALL.key] = names.text(record.key);
    words[CALL.path] = names.text(record.path);
    words[CALL.tags] = names.list(record.tags);
    words[CALL.format] = names.text(record.format);
    words[CALL.lane] = names.text(record.lane);
    words[CALL.model] = names.text(record.model);
    words[CALL.outcome] = names.text(record.outcome);
    words[CALL.refused] = names.text(record.refused);
    words[CALL.errorKind] = names.text(record.error?.kind);
    words[CALL.errorCode] = names.text(record.error?.code);
    words[CALL.finish] = names.text(record.finish);
    words[CALL.client] = names.text(record.client);
    numbers[CALL_NUMBERS.startedAt] = record.startedAt;
    numbers[CALL_NUMBERS.ms] = record.ms;
    numbers[CALL_NUMBERS.headMs] = record.headMs ?? NaN;
    numbers[CALL_NUMBERS.firstMs] = record.firstMs ?? NaN;
    numbers[CALL_NUMBERS.ownMs] = record.ownMs ?? NaN;
  }

  #writeAttempt(attempt: AttemptRecord, at: number): void {
    const { words, numbers } = this.#call;
    const names = this.#names;
    const { usage, charge } = attempt;
    const word = at >> 2;
    const number = at >> 3;
    words[word + ATTEMPT.provider] = names.text(attempt.provider);
    words[word + ATTEMPT.deployment] = names.text(attempt.deployment);
    words[word + ATTEMPT.model] = names.text(attempt.model);
    words[word + ATTEMPT.class] = names.text(attempt.class);
    words[word + ATTEMPT.state] = names.text(charge.state);
    words[word + ATTEMPT.price] = names.text(charge.price);
    words[word + ATTEMPT.doubt] = names.text(charge.doubt);
    words[word + ATTEMPT.tier] = names.text(usage.tier);
    words[word + ATTEMPT.known] = names.text(usage.known);
    words[word + ATTEMPT.accounts] = names.list(attempt.accounts);
    numbers[number + ATTEMPT_NUMBERS.ms] = attempt.ms;
    numbers[number + ATTEMPT_NUMBERS.input] = usage.input;
    numbers[number + ATTEMPT_NUMBERS.cacheRead] = usage.cacheRead;
    numbers[number + ATTEMPT_NUMBERS.cacheWrite] = usage.cacheWrite;
    numbers[number + ATTEMPT_NUMBERS.cacheWrite1h] = usage.cacheWrite1h ?? NaN;
    numbers[number + ATTEMPT_NUMBERS.output] = usage.output;
    numbers[number + ATTEMPT_NUMBERS.reasoning] = usage.reasoning;
    numbers[number + ATTEMPT_NUMBERS.cost] = charge.cost;
    numbers[number + ATTEMPT_NUMBERS.held] = attempt.held;
    numbers[number + ATTEMPT_NUMBERS.expected] = attempt.expected ?? NaN;
  }

  /** @returns the end of the texts */
  #writeTexts(record: CallRecord, start: number): number {
    const call = this.#call;
    const { session, prompt } = record;
    let flags = record.stream ? FLAGS.stream : 0;
    let at = call.text(record.id, start);
    if (session !== undefined) {
      flags |= FLAGS.session;
      at = call.text(session, at);
    }
    const isPacked = prompt !== undefined && promptFits(prompt);
    if (isPacked) {
      flags |= FLAGS.prompt;
      at = this.#writePrompt(prompt, at);
    }
    at = this.#writeColumns(record, at);
    const rest = restOf(record, isPacked);
    if (rest) {
      flags |= FLAGS.rest;
      at = call.text(JSON.stringify(rest), at);
    }
    call.words[CALL.flags] = flags;
    return at;
  }

  #writePrompt({ parts, head, hashes, saved, dearer }: PromptRecord, start: number): number {
    const call = this.#call;
    call.reserve(start + (PROMPT_WORDS + 2 * parts.length + 6) * WORD);
    const word = start >> 2;
    call.words[word + PROMPT.parts] = parts.length;
    call.words[word + PROMPT.head] = head;
    for (let at = 0; at < parts.length; at++) {
      call.words[word + PROMPT_WORDS + 2 * at] = this.#names.text(parts[at]![0]);
      call.words[word + PROMPT_WORDS + 2 * at + 1] = parts[at]![1];
    }
    let at = start + (PROMPT_WORDS + 2 * parts.length) * WORD;
    at = call.number(saved ?? NaN, at);
    at = call.number(dearer?.write ?? NaN, at);
    at = call.number(dearer?.input ?? NaN, at);
    return call.text(hashes, at);
  }

  #writeColumns(record: CallRecord, start: number): number {
    const call = this.#call;
    let count = 0;
    let at = start;
    let member = 0;
    for (const name in record) {
      // Most records have their members in one order, and two strings are compared faster than one is looked up.
      if (name === MEMBERS[member]) {
        member++;
        continue;
      }
      if (RECORD_MEMBERS.has(name)) continue;
      const value: unknown = record[name as keyof CallRecord];
      const text = typeof value === "string" ? value : JSON.stringify(value);
      if (text === undefined) continue;
      call.reserve(at + WORD);
      call.words[at >> 2] = this.#names.text(name);
      at = call.text(text, at + WORD, typeof value === "string" ? 0 : TEXT_BITS.json);
      count++;
    }
    call.words[CALL.columns] = count;
    return at;
  }
}

/** Whether the numbers of a record have the sizes of their places. JSON has no others than finite ones. */
function fits(record: CallRecord): boolean {
  const { status, startedAt, ms, headMs = 0, firstMs = 0, ownMs = 0, attempts } = record;
  let sum = startedAt + ms + headMs + firstMs + ownMs;
  for (let at = 0; at < attempts.length; at++) {
    const { usage, charge, held, expected = 0, ms: time } = attempts[at]!;
    const { input, cacheRead, cacheWrite, cacheWrite1h = 0, output, reasoning } = usage;
    sum += input + cacheRead + cacheWrite + cacheWrite1h + output + reasoning;
    sum += charge.cost + held + expected + time;
  }
  return isWord(status) && Number.isFinite(sum);
}

function isWord(value: number): boolean {
  return (value | 0) === value;
}

function promptFits({ parts, head, saved = 0, dearer }: PromptRecord): boolean {
  for (let at = 0; at < parts.length; at++) if (!isWord(parts[at]![1])) return false;
  return isWord(head) && Number.isFinite(saved + (dearer ? dearer.write + dearer.input : 0));
}

/** Members that few records have. `undefined` if there are none. */
function restOf(record: CallRecord, hasPrompt: boolean): Rest | undefined {
  const { losses, unstored, cacheBreak, attempts } = record;
  const prompt = hasPrompt ? undefined : record.prompt;
  const isRare = (losses ?? unstored ?? cacheBreak ?? prompt) !== undefined;
  let areRare = false;
  for (let at = 0; at < attempts.length; at++)
    areRare ||= attempts[at]!.missed !== undefined || hasRare(attempts[at]!.usage);
  if (!isRare && !areRare) return undefined;
  return {
    ...(isRare && { record: { losses, unstored, cacheBreak, prompt } }),
    ...(areRare && { attempts: attempts.map(({ missed, usage }) => ({ missed, usage: rareOf(usage) })) }),
  };
}

function hasRare(usage: Usage): boolean {
  const { cacheReadAudio, audioIn, imageIn, audioOut, imageOut } = usage;
  const { searches, units, region, speed, reported, beside } = usage;
  const counts = cacheReadAudio ?? audioIn ?? imageIn ?? audioOut ?? imageOut ?? searches;
  return (counts ?? units ?? region ?? speed ?? reported ?? beside) !== undefined;
}

function rareOf(usage: Usage): Partial<Usage> {
  const { cacheReadAudio, audioIn, imageIn, audioOut, imageOut } = usage;
  const { searches, units, region, speed, reported, beside } = usage;
  return {
    ...{ cacheReadAudio, audioIn, imageIn, audioOut, imageOut },
    ...{ searches, units, region, speed, reported, beside },
  };
}
