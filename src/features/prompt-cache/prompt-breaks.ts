/**
 * Why a provider did not read a prompt from its cache that it had read or written before: compares the sections of two calls
 * of one conversation.
 */
import type { PromptPart } from "../../core/prompt-sections.ts";
import { SECTION_BYTES } from "../../core/section-hash.ts";
import type { BreakReason } from "../../ledger/record.ts";

/** A prompt of a conversation, with what the provider said of its cache. Times are milliseconds since 1970. */
export interface Prompt {
  parts: readonly PromptPart[];
  head: number;
  hashes: Uint8Array;
  /** The model as the client named it, and what served the call: any value that identifies it. */
  model: number;
  target: number;
  startedAt: number;
  endedAt: number;
  /** Tokens. */
  input: number;
  read: number;
  written: number;
  /** Part of `written` that is cached for an hour. */
  written1h: number;
}

/** The newest prompt of a conversation. */
export interface Thread extends Pick<Prompt, "parts" | "head" | "hashes" | "model" | "target" | "endedAt"> {
  /** Tokens that were in the cache when the call ended. */
  cached: number;
  /** How long the cache keeps them. Milliseconds. */
  keepMs: number;
}

export interface Break {
  reason: BreakReason;
  section?: string;
  afterMs: number;
  tokens: number;
}

const FIVE_MINUTES = 300_000;
const HOUR = 3_600_000;
/** Providers read whole blocks, so less than this, or than this share of what was cached, is no loss. Tokens. */
const LEAST_TOKENS = 1_000;
const LEAST_SHARE = 0.05;

/**
 * The thread that a prompt continues: several run in one session, such as those of an agent and its helpers. It shares turns
 * with the prompt; prompts with one turn each belong together if they share most of what comes before it.
 * @returns its index; -1 for a new conversation
 */
export function threadOf(threads: readonly Thread[], prompt: Prompt): number {
  let best = -1;
  let most = 0;
  for (const [index, thread] of threads.entries()) {
    const { length } = thread.hashes;
    if (thread.model !== prompt.model || length <= most || length > prompt.hashes.length) continue;
    if (firstDifference(thread, prompt) >= 0) continue;
    most = length;
    best = index;
  }
  if (best >= 0) return best;
  for (const [index, thread] of threads.entries()) {
    if (thread.model !== prompt.model) continue;
    const turns = shared(thread, prompt, true);
    const head = shared(thread, prompt, false);
    const isOneTurn = turnsIn(thread) === 1 && turnsIn(prompt) === 1;
    if (turns === 0 && !(isOneTurn && 2 * head >= Math.max(thread.head, prompt.head) && head > 0)) continue;
    const likeness = 1 + turns * 1_000 + head;
    if (likeness <= most) continue;
    most = likeness;
    best = index;
  }
  return best;
}

/** The thread after a call. @param before the thread that it continues */
export function threadAfter(prompt: Prompt, before?: Thread): Thread {
  const { parts, head, hashes, model, target, endedAt, read, written, written1h } = prompt;
  const kept = before && written === 0 ? before.keepMs : FIVE_MINUTES;
  return {
    ...{ parts, head, hashes, model, target, endedAt },
    cached: read + written,
    keepMs: written1h > 0 ? HOUR : kept,
  };
}

/** @returns undefined if the provider has read what was cached */
export function breakOf(before: Thread, prompt: Prompt): Break | undefined {
  const afterMs = prompt.startedAt - before.endedAt;
  // Of calls that run at the same time, none can read what the other one writes.
  if (afterMs < 0) return undefined;
  const tokens = Math.min(before.cached - prompt.read, prompt.input + prompt.written);
  if (tokens < LEAST_TOKENS || tokens < before.cached * LEAST_SHARE) return undefined;
  return { ...reasonOf(before, prompt, afterMs), afterMs, tokens };
}

function reasonOf(before: Thread, prompt: Prompt, afterMs: number): Pick<Break, "reason" | "section"> {
  const at = firstDifference(before, prompt);
  const isOther = before.target !== prompt.target;
  const hasExpired = afterMs > before.keepMs;
  // Behind a changed turn the head is still read: if nothing is, something else is the reason.
  const isInTurns = at >= Math.min(before.head, prompt.head);
  const explains = at >= 0 && !(isInTurns && prompt.read === 0 && (isOther || hasExpired));
  if (explains) return describeDifference(before, prompt, at);
  if (isOther) return { reason: "deployment" };
  return { reason: hasExpired ? "expired" : "provider" };
}

/** @returns the index of the first section that differs; -1 if one prompt continues the other */
function firstDifference(a: Thread, b: Prompt): number {
  const length = Math.min(a.hashes.length, b.hashes.length);
  for (let at = 0; at < length; at++)
    if (a.hashes[at] !== b.hashes[at]) return Math.floor(at / SECTION_BYTES);
  return -1;
}

function describeDifference(before: Thread, prompt: Prompt, at: number): Pick<Break, "reason" | "section"> {
  const was = placeOf(before.parts, at);
  const is = placeOf(prompt.parts, at);
  const isSameList = was.name === is.name && was.count === is.count && is.count > 1;
  if (isSameList && isReordered(before, prompt, is)) return { reason: "reordered", section: is.name };
  // A member that the prompt has lost is missing where the next one begins.
  const isLost = was.name !== is.name && !prompt.parts.some(([name]) => name === was.name);
  return { reason: "changed", section: nameOf(isLost ? was : is, at) };
}

interface Place {
  name: string;
  /** Index of its first section, and number of its elements: 0 for a value that is no list. */
  from: number;
  count: number;
}

function placeOf(parts: readonly PromptPart[], at: number): Place {
  let from = 0;
  let place: Place = { name: "", from, count: 0 };
  for (const [name, count] of parts) {
    place = { name, from, count };
    from += Math.max(1, count);
    if (at < from) return place;
  }
  return place;
}

function nameOf({ name, from, count }: Place, at: number): string {
  return count === 0 ? name : `${name}[${at - from}]`;
}

function isReordered(before: Thread, prompt: Prompt, { from, count }: Place): boolean {
  const list = ({ hashes }: Pick<Prompt, "hashes">) =>
    sections(hashes, from, from + count)
      .sort()
      .join(" ");
  return list(before) === list(prompt);
}

function turnsIn({ hashes, head }: Pick<Prompt, "hashes" | "head">): number {
  return hashes.length / SECTION_BYTES - head;
}

/** Number of sections that two prompts have in common: turns, or what comes before them. */
function shared(a: Thread, b: Prompt, turns: boolean): number {
  const of = ({ hashes, head }: Pick<Prompt, "hashes" | "head">) =>
    turns ? sections(hashes, head, hashes.length / SECTION_BYTES) : sections(hashes, 0, head);
  const known = new Set(of(a));
  let count = 0;
  for (const section of new Set(of(b))) if (known.has(section)) count++;
  return count;
}

function sections(hashes: Uint8Array, from: number, to: number): string[] {
  const list: string[] = [];
  for (let at = from; at < to; at++)
    list.push(hashes.subarray(at * SECTION_BYTES, (at + 1) * SECTION_BYTES).toHex());
  return list;
}
