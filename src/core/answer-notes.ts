/**
 * Notes that a part of the gateway keeps beside a stored answer, for the request that continues it. They live as long as the
 * answer: what deletes the answer deletes them.
 */
import { Slot, type Noted } from "./slot.ts";
import type { AnswerNote } from "./stored-answer.ts";

const FOUND = new Slot<readonly AnswerNote[]>();
const KEPT = new Slot<Map<string, Uint8Array>>();

/** The notes of one part. */
export class AnswerNotes {
  readonly #part: string;

  /** @param part its name */
  constructor(part: string) {
    this.#part = part;
  }

  /** The notes of the answers that a call continues, the oldest first. They are there once hooks run. */
  of(call: Noted): readonly Uint8Array[] {
    return (FOUND.get(call) ?? []).filter(({ id }) => id === this.#part).map(({ value }) => value);
  }

  /**
   * Keeps bytes beside the answer of a call, if weir stores the answer; called before the answer ends. Later bytes replace
   * earlier ones of the same call. They count for the size of the answer.
   */
  keep(call: Noted, bytes: Uint8Array): void {
    const kept = KEPT.get(call) ?? new Map<string, Uint8Array>();
    kept.set(this.#part, bytes);
    KEPT.set(call, kept);
  }
}

/** Gives a call the notes of the answers that it continues. */
export function setFoundNotes(call: Noted, notes: readonly AnswerNote[]): void {
  if (notes.length > 0) FOUND.set(call, notes);
}

/** The notes to store beside the answer of a call. */
export function keptNotes(call: Noted): { notes?: readonly AnswerNote[] } {
  const kept = KEPT.get(call);
  return kept ? { notes: [...kept].map(([id, value]) => ({ id, value })) } : {};
}
