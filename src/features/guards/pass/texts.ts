/** The texts of a request on their way through the guards. */
import type { TextPlace } from "../../../core/text-places.ts";
import { type Edit, edited, escaped } from "../replace/edits.ts";
import { type Hit, Needles } from "../replace/needles.ts";

/** A text that is JSON. */
export interface Outer {
  readonly place: TextPlace;
  readonly bytes: Uint8Array;
}

/** A text of a request, as the guards so far have made it. */
export interface Inspected {
  readonly place: TextPlace;
  readonly given: string;
  text: string;
  /** The JSON of which it is a string; absent: it is a text of its own. */
  readonly outer?: Outer;
  /** The text as its place has it: a file in base64. Absent: as it is. */
  readonly encoded?: (text: string) => string;
}

/** Kinds whose texts are no words: nothing in them is replaced. */
export const OPAQUE = new Set(["media"]);

/** What goes at places that are known, in one text. */
export type Known = ReadonlyMap<Inspected, readonly Edit[]>;

interface Replacing {
  /** Places of values that have no form: elsewhere such a value goes where it is no part of a longer word. */
  readonly known?: Known;
  /** The error for a value in a place that cannot change. Absent: it stays there. */
  readonly refusal?: (value: string, place: TextPlace) => Error;
}

/** Every occurrence of a value goes, also where no detector looks. */
export function replaceAll(
  substitutes: Map<string, string>,
  texts: readonly Inspected[],
  { known, refusal }: Replacing,
): void {
  for (const [value, substitute] of [...substitutes]) {
    const inJson = escaped(value);
    if (inJson !== value) substitutes.set(inJson, substitute);
  }
  const needles = new Needles(substitutes.keys());
  for (const one of texts) {
    const { kind, fixed, isReference } = one.place;
    if (fixed || OPAQUE.has(kind) || (isReference && !refusal)) continue;
    const own = known?.get(one) ?? [];
    const hits = needles.find(one.text).filter((hit) => !known || isFree(hit, one.text, own));
    if (isReference && hits.length > 0) throw refusal!(hits[0]!.text, one.place);
    const edits = [
      ...own,
      ...hits.map(({ start, end, text }) => ({ start, end, text: substitutes.get(text)! })),
    ];
    if (edits.length > 0)
      one.text = edited(
        one.text,
        edits.sort((first, second) => first.start - second.start),
      );
  }
}

/** Whether a hit is a word of its own, and apart from known places. */
function isFree({ start, end }: Hit, text: string, own: readonly Edit[]): boolean {
  if (own.some((edit) => edit.start < end && edit.end > start)) return false;
  return !joins(text, start) && !joins(text, end);
}

/** Letters of scripts that separate words by spaces, and digits. */
const IN_WORD =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Hangul}\p{N}]/u;

/** Whether a word goes on at a position. */
function joins(text: string, at: number): boolean {
  return at > 0 && at < text.length && IN_WORD.test(text[at - 1]!) && IN_WORD.test(text[at]!);
}
