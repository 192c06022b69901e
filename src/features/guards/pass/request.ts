/** Lets a request pass the guards: what goes on has tokens in place of values. */
import { GatewayError } from "../../../core/error.ts";
import type { TextPlace, TextPlaces } from "../../../core/text-places.ts";
import type { Edited } from "../../../gateway/seams.ts";
import { readJson, withStrings } from "../../../stream/json-nodes.ts";
import type { Guard } from "../guard.ts";
import type { CallMap } from "../replace/call-map.ts";
import { edited, escaped } from "../replace/edits.ts";
import { Needles } from "../replace/needles.ts";
import { BlockedError, type Verdicts } from "../verdicts.ts";

/** A text of a request, as the guards so far have made it. */
interface Inspected {
  readonly place: TextPlace;
  readonly given: string;
  text: string;
}

/** Kinds whose texts are no words: nothing in them is replaced. */
const OPAQUE = new Set(["media"]);

/** What the guards of a call share. */
export interface Passing {
  readonly guards: readonly Guard[];
  readonly map: CallMap;
  readonly verdicts: Verdicts;
  /** What weir cannot read is refused. */
  readonly refusesUnread: boolean;
}

/**
 * @returns undefined: the request goes on as it came
 * @throws GatewayError of a guard that blocks
 */
export function guardRequest(bytes: Uint8Array, places: TextPlaces, passing: Passing): Edited | undefined {
  const texts: Inspected[] = [];
  for (const place of places.request(bytes)) {
    if (passing.refusesUnread && (OPAQUE.has(place.kind) || place.fixed)) throw unread(place);
    const given = place.read();
    texts.push({ place, given, text: given });
  }
  for (const guard of passing.guards) applyGuard(guard, texts, passing);
  const changed = texts.filter(({ text, given }) => text !== given);
  if (changed.length === 0) return undefined;
  const whole = withStrings(
    bytes,
    changed.map(({ place: { start, end }, text }) => ({ start, end, text })),
  );
  return editedRequest(whole);
}

function unread({ kind, path, fixed }: TextPlace): GatewayError {
  const what = fixed ? `${fixed} content` : kind;
  return new GatewayError(
    "invalid-request",
    `The guards of weir cannot read ${path} (${what}), and refuse it.`,
    {
      ...{ code: "blocked_by_guard", param: path, shouldRetry: false },
    },
  );
}

function editedRequest(bytes: Uint8Array): Edited {
  const members = new Map(readJson(bytes).entries());
  return {
    bytes,
    spanOf: (name) => members.get(name),
    get body() {
      return JSON.parse(Buffer.from(bytes).toString());
    },
  };
}

function applyGuard(guard: Guard, texts: readonly Inspected[], { map, verdicts }: Passing): void {
  const values = new Map<string, { kind: string; normal: string; written: string }>();
  for (const { place, text } of texts) {
    if (!guard.reads(place) || text === "") continue;
    for (const { kind, start, end, normal } of guard.find(text)) {
      verdicts.note(guard, kind, place.path);
      if (guard.action === "block") throw new BlockedError(guard, kind, place.path);
      const written = text.slice(start, end);
      values.set(written, { kind, normal, written });
    }
  }
  if (values.size === 0 || guard.action === "flag") return;
  if (guard.action === "replace") map.add(values.values());
  const substitute = (value: string) =>
    guard.action === "replace" ? map.tokens.get(value)! : `[${values.get(value)!.kind}]`;
  replaceAll(new Map([...values.keys()].map((value) => [value, substitute(value)])), texts);
}

/** Every occurrence of a value goes, also where no detector looks. */
function replaceAll(substitutes: Map<string, string>, texts: readonly Inspected[]): void {
  for (const [value, substitute] of [...substitutes]) {
    const inJson = escaped(value);
    if (inJson !== value) substitutes.set(inJson, substitute);
  }
  const needles = new Needles(substitutes.keys());
  for (const one of texts) {
    const { kind, fixed } = one.place;
    if (fixed || OPAQUE.has(kind)) continue;
    const hits = needles.find(one.text);
    if (hits.length > 0)
      one.text = edited(
        one.text,
        hits.map(({ start, end, text }) => ({ start, end, text: substitutes.get(text)! })),
      );
  }
}
