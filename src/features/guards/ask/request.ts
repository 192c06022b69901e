/** Asks about the texts of a request, and does what the answers say. */
import type { Edited } from "../../../gateway/seams.ts";
import type { Guard } from "../guard.ts";
import type { Passing } from "../pass/passing.ts";
import { type Inspected, OPAQUE, replaceAll } from "../pass/texts.ts";
import type { Edit } from "../replace/edits.ts";
import { BlockedError } from "../verdicts.ts";
import type { Asked } from "./asked.ts";
import type { Answer, AskedFinding, AskedText, Batch } from "./asker.ts";
import { imageUrl } from "./images.ts";

/** A request on its way through the guards. */
export interface Asking {
  readonly texts: readonly Inspected[];
  /** As it is now. @returns undefined: as it came */
  now(): Edited | undefined;
}

/** @throws GatewayError of a guard that blocks, or that has no verdict */
export async function askAbout(
  guard: Guard,
  asked: Asked,
  { texts, now }: Asking,
  passing: Passing,
): Promise<void> {
  const read = texts.filter(
    ({ place, text }) =>
      guard.reads(place) && place.fixed !== "encrypted" && !place.isReference && text !== "",
  );
  const media = asked.images ? texts.filter(({ place }) => OPAQUE.has(place.kind)) : [];
  if (read.length === 0 && media.length === 0) return;
  const { facts, call, verdicts } = passing;
  const batch: Batch = {
    ...{ phase: "input", call: facts, texts: read.map(askedText), final: true },
    images: media.flatMap(({ place, text }) => {
      const url = imageUrl(text);
      return url === undefined ? [] : { path: place.path, url };
    }),
    get tools() {
      return passing.tools(now());
    },
  };
  const startedAt = performance.now();
  const answers = await asked.ask(batch, call.stop);
  verdicts.ran(guard, "input", performance.now() - startedAt);
  if (!answers) return verdicts.unavailable(guard, "input");
  for (const answer of answers) heed(guard, answer, read, passing);
  replace(
    guard,
    answers.flatMap(({ findings }) => findings),
    read,
    texts,
    passing,
  );
}

function askedText({ place: { kind, role, path }, text }: Inspected): AskedText {
  return { kind, ...(role !== undefined && { role }), path, text };
}

/** Notes the verdict. @throws BlockedError */
function heed(
  guard: Guard,
  { verdict, kind = "VERDICT", findings }: Answer,
  read: readonly Inspected[],
  { verdicts }: Passing,
): void {
  if (verdict === "block") {
    const verdictOf = guard.action === "flag" ? "flagged" : "blocked";
    verdicts.note(guard, "input", { kind, normal: "" }, "", verdictOf);
    if (guard.action !== "flag") throw new BlockedError(guard, kind);
  }
  if (verdict === "flag") verdicts.note(guard, "input", { kind, normal: "" }, "", "flagged");
  for (const { index, start, end, kind: found, replacement } of findings) {
    const { place, text } = read[index]!;
    const { path } = place;
    const value = { kind: found, normal: text.slice(start, end) };
    verdicts.note(guard, "input", value, path, replacement === undefined ? undefined : "masked");
    if (guard.action === "block" && replacement === undefined)
      throw new BlockedError(guard, found, verdicts.placeOf(path));
  }
}

/** Replaces what was found, and each other occurrence of it that is a word of its own. */
function replace(
  guard: Guard,
  findings: readonly AskedFinding[],
  read: readonly Inspected[],
  texts: readonly Inspected[],
  { map }: Passing,
): void {
  const seen = findings.flatMap(({ index, start, end, kind, replacement }) => {
    if (guard.action === "flag" && replacement === undefined) return [];
    const one = read[index]!;
    const written = one.text.slice(start, end);
    return { one, start, end, kind, replacement, written, normal: written };
  });
  if (seen.length === 0) return;
  if (guard.action === "replace") map.add(seen.filter(({ replacement }) => replacement === undefined));
  const substitutes = new Map<string, string>();
  const known = new Map<Inspected, Edit[]>();
  for (const { one, start, end, kind, replacement, written } of seen) {
    const text = replacement ?? (guard.action === "replace" ? map.tokens.get(written)! : `[${kind}]`);
    if (!substitutes.has(written)) substitutes.set(written, text);
    const edits = known.get(one) ?? [];
    if (edits.every((edit) => edit.end <= start || edit.start >= end)) edits.push({ start, end, text });
    known.set(one, edits);
  }
  replaceAll(substitutes, texts, { known });
}
