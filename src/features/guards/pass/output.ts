/** How the text of an answer is judged and restored, whole or in pieces. */
import type { AnswerText, Text } from "../../../core/text-places.ts";
import { reachOfAll, type Found } from "../detect/scan.ts";
import type { Taint } from "../flow/taint.ts";
import type { Guard } from "../guard.ts";
import type { CallMap } from "../replace/call-map.ts";
import { type Edit, edited, escaped } from "../replace/edits.ts";
import { type Restoration, Tokens } from "../replace/restore.ts";
import { quoted, viewOf } from "./view.ts";
import { BlockedError, type Verdicts } from "../verdicts.ts";
import { Strays } from "./strays.ts";

/** What becomes of a text. */
export interface Judged {
  /** Of what is decided. */
  readonly edits: readonly Edit[];
  /** What is in front of it is decided. */
  readonly edge: number;
  /** What is decided, as detectors read it. */
  readonly read: string;
  /** A guard blocks the value at the edge. */
  readonly error?: BlockedError;
}

const NONE: readonly Edit[] = [];

interface Range {
  readonly start: number;
  readonly end: number;
}

/** A finding with what becomes of it. */
interface Seen extends Found {
  readonly guard: Guard;
}

/** What one of several stages of an answer does beside judging. */
interface OutputRole {
  /** It is the last one, and restores values. Default: true. */
  readonly restores?: boolean;
  /** Holds tools back. */
  readonly taint?: Taint | undefined;
}

export class Output {
  readonly #guards: readonly Guard[];
  /** It is the last one. */
  readonly restores: boolean;
  readonly #map: CallMap;
  readonly #verdicts: Verdicts;
  readonly #taint: Taint | undefined;
  #tokens: Tokens | undefined;
  #known = -1;
  #strays: Strays | undefined;
  /** How often the guards have found each value: in texts and pieces, and at most in one text that repeats pieces. */
  readonly #noted = { once: new Map<string, number>(), again: new Map<string, number>() };

  /** @param guards those that read answers */
  constructor(
    guards: readonly Guard[],
    map: CallMap,
    verdicts: Verdicts,
    { restores = true, taint }: OutputRole = {},
  ) {
    this.#guards = guards;
    this.restores = restores;
    this.#taint = taint;
    this.#map = map;
    this.#verdicts = verdicts;
  }

  /** The verdicts so far: value of the header `x-weir-guards`. @param isOpen the answer is still to come */
  words(isOpen = false): string {
    return this.#verdicts.words(isOpen);
  }

  /** Reads one text behind the other for tokens without a value. @returns undefined: the call has no tokens */
  strays(): ((piece: string) => void) | undefined {
    if (this.#map.size === 0 || !this.restores) return undefined;
    this.#strays ??= new Strays(this.#map.values.keys(), (kind) => this.#verdicts.unrestored(kind));
    return this.#strays.reader();
  }

  /** An answer has content that weir cannot read. */
  unread({ kind, fixed }: Text): void {
    for (const guard of this.#guards) this.#verdicts.unread(guard, fixed ?? kind);
  }

  /** Logprobs that spell a replaced text have gone with it. */
  loseLogprobs(): void {
    this.#verdicts.loseLogprobs();
  }

  /** The answer calls a tool that it may not call. @returns undefined: it does not */
  refusal(text: AnswerText): Judged | undefined {
    const error = this.#taint?.refusal(text);
    return error && { edits: [], edge: 0, read: "", error };
  }

  /** Nothing in an answer can change. */
  get isIdle(): boolean {
    return this.#guards.length === 0 && (this.#map.size === 0 || !this.restores);
  }

  /** Whether a guard judges whole answers only. */
  get holds(): boolean {
    return this.#guards.some(
      ({ mode, detectors }) => mode === "hold" || detectors.some(({ reach }) => reach === undefined),
    );
  }

  get blocks(): boolean {
    return this.#guards.some(({ action }) => action === "block");
  }

  /**
   * Judges a text that is complete. @returns it as it may go on
   * @param repeats it may say once more what pieces have said: a value that was found does not count again
   */
  whole(text: string, of: Text, repeats = false): { judged: Judged; whole: string } {
    const judged = this.judge(text, of, true, "", repeats);
    this.strays()?.(judged.read);
    return { judged, whole: judged.edits.length === 0 ? text : edited(text, judged.edits) };
  }

  /**
   * @param isFinal no more text follows @param context what stood in front of it, as detectors read it
   * @param began the text is JSON, and begins within a string of it
   */
  judge(text: string, of: Text, isFinal: boolean, context = "", repeats = false, began = false): Judged {
    if (!of.isJson) return this.#judge(text, of, isFinal, context, repeats);
    const view = viewOf(text, isFinal);
    const { edge, edits, ...judged } = this.#judge(view.text, of, isFinal, context, repeats);
    const placed = edits.map((edit) => ({ ...edit, start: view.at(edit.start), end: view.at(edit.end) }));
    return { ...judged, edge: view.at(edge), edits: quoted(text, placed, began) };
  }

  #judge(text: string, of: Text, isFinal: boolean, context: string, repeats: boolean): Judged {
    const restored = this.#restoring().find(text, isFinal);
    // What may become a token is not read yet: it would be a part of a value in front of it.
    const read = withoutTokens(text.slice(0, restored.edge), restored.found);
    let edge = read.length;
    const given = context + read;
    const from = context.length;
    const seen: Seen[] = [];
    let startedAt = performance.now();
    for (const guard of this.#guards) {
      if (guard.detectors.length === 0 || !guard.readsAnswer(of)) continue;
      for (const found of guard.find(given, from))
        seen.push({ ...found, ...moved(found, from), guard, whole: moved(found.whole, from) });
      if (!isFinal) edge = Math.min(edge, reachOfAll(read, guard.detectors) ?? 0);
      const endedAt = performance.now();
      this.#verdicts.ran(guard, "output", endedAt - startedAt);
      startedAt = endedAt;
    }
    if (seen.length + restored.found.length === 0) return { edits: NONE, edge, read: read.slice(0, edge) };
    edge = apartFrom(edge, [...seen.map(({ whole }) => whole), ...restored.found]);
    const block = seen.find(({ guard, end }) => guard.action === "block" && end <= edge);
    if (block) edge = block.start;
    const decided = seen.filter(({ end }) => end <= edge);
    this.#note(decided, of, repeats);
    const edits = this.#edits(decided, restored.found, edge, of);
    if (!block) return { edits, edge, read: read.slice(0, edge) };
    this.#note([block], of, repeats);
    return { edits, edge, read: read.slice(0, edge), error: new BlockedError(block.guard, block.kind) };
  }

  #note(seen: readonly Seen[], { path }: Text, repeats: boolean): void {
    const { once, again } = this.#noted;
    const here = repeats ? new Map<string, number>() : once;
    for (const one of seen) {
      const name = `${one.guard.name} ${one.kind} ${one.normal}`;
      const count = (here.get(name) ?? 0) + 1;
      here.set(name, count);
      const before = Math.max(again.get(name) ?? 0, repeats ? (once.get(name) ?? 0) : 0);
      if (count > before) this.#verdicts.note(one.guard, "output", one, path);
      if (repeats) again.set(name, Math.max(before, count));
    }
  }

  #restoring(): Tokens {
    if (!this.#tokens || this.#known !== this.#map.size) {
      this.#tokens = new Tokens(this.#map.values);
      this.#known = this.#map.size;
    }
    return this.#tokens;
  }

  #edits(seen: readonly Seen[], restored: readonly Restoration[], edge: number, { isJson }: Text): Edit[] {
    const edits: Edit[] = [];
    for (const { start, end, kind, guard, normal } of seen) {
      if (guard.action === "flag") continue;
      const text = guard.action === "mask" ? `[${kind}]` : this.#map.tokenFor(kind, normal);
      if (edits.every((edit) => edit.end <= start || edit.start >= end)) edits.push({ start, end, text });
    }
    for (const { start, end, value } of this.restores ? restored : [])
      if (end <= edge && edits.every((edit) => edit.end <= start || edit.start >= end))
        edits.push({ start, end, text: isJson ? escaped(value) : value });
    return edits.sort((one, other) => one.start - other.start);
  }
}

const moved = ({ start, end }: Range, by: number): Range => ({ start: start - by, end: end - by });

/** An edge that cuts no value and no token: what they cover is decided with them. */
function apartFrom(edge: number, ranges: readonly Range[]): number {
  const cut = ranges.find(({ start, end }) => start < edge && end > edge);
  return cut ? apartFrom(cut.start, ranges) : edge;
}

/** A text of the same length in which tokens are no part of any value. */
function withoutTokens(text: string, tokens: readonly Range[]): string {
  if (tokens.length === 0) return text;
  return edited(
    text,
    tokens.map(({ start, end }) => ({ start, end, text: "\n".repeat(end - start) })),
  );
}
