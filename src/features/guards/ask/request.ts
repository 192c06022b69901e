/** Asks about the texts of a request, and does what the answers say. */
import type { Edited } from "../../../gateway/seams.ts";
import { Rerouted, type RequestFinding } from "../flow/route.ts";
import type { Guard } from "../guard.ts";
import type { Passing } from "../pass/passing.ts";
import { type Inspected, OPAQUE, replaceAll } from "../pass/texts.ts";
import type { Edit } from "../replace/edits.ts";
import { BlockedError } from "../verdicts.ts";
import { type Asked, unavailable } from "./asked.ts";
import type { Answer, AskedFinding, AskedText, Batch } from "./asker.ts";
import { imageUrl } from "./images.ts";

const NO_PROSE = new Set(["name", "other", "declaration"]);

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
      guard.reads(place) &&
      place.fixed !== "encrypted" &&
      !place.isReference &&
      !place.isNumber &&
      text !== "",
  );
  const media = asked.images ? texts.filter(({ place }) => OPAQUE.has(place.kind)) : [];
  if (read.length === 0 && media.length === 0) return;
  const { facts, call, registry, verdicts } = passing;
  const batch: Batch = {
    ...{ phase: "input", call: asked.factsFor(facts, call.headers), texts: read.map(askedText) },
    ...{ final: true, parent: call, registry },
    images: media.flatMap(({ place, text }) => {
      const url = imageUrl(text);
      return url === undefined ? [] : { path: place.path, url };
    }),
    get tools() {
      return passing.tools(now());
    },
  };
  const startedAt = performance.now();
  const answers = await asked.ask(batch);
  verdicts.ran(guard, "input", performance.now() - startedAt);
  if (!answers) {
    verdicts.unavailable(guard, "input");
    if (asked.passes) return;
    throw unavailable(guard.name);
  }
  if (guard.action === "route") reroute(guard, answers, read);
  for (const answer of answers) heed(guard, answer, read, passing);
  // The provider has the text already.
  if (guard.isBeside) return;
  replace(
    guard,
    answers.flatMap(({ findings }) => findings),
    read,
    texts,
    passing,
  );
}

function askedText({ place: { kind, role, path }, text }: Inspected): AskedText {
  const said = ROLES[kind] ?? role;
  return { kind, ...(said !== undefined && { role: said }), path, text };
}

/** Some formats have no message for it, or that of another role. */
const ROLES: Partial<Record<AskedText["kind"], string>> = { system: "system", "tool-result": "tool" };

/** @throws Rerouted for a verdict, and for a value */
function reroute(guard: Guard, answers: readonly Answer[], read: readonly Inspected[]): void {
  const found = answers.flatMap(({ verdict, kind = "verdict", findings }): RequestFinding[] => [
    ...(verdict === "block" ? [{ kind, normal: "", path: "" }] : []),
    ...findings.map(({ index, start, end, kind: of }) => {
      const { place, text } = read[index]!;
      return { kind: of, normal: text.slice(start, end), path: place.path };
    }),
  ]);
  if (found.length > 0) throw new Rerouted(guard, found);
}

/** Notes the verdict. @throws BlockedError */
function heed(
  guard: Guard,
  { verdict, kind = "verdict", findings }: Answer,
  read: readonly Inspected[],
  { verdicts }: Passing,
): void {
  if (verdict === "block" && guard.action !== "flag") throw verdicts.judged(guard, "input", kind);
  if (verdict !== "pass") verdicts.flagged(guard, "input", kind);
  for (const { index, start, end, kind: found, replacement } of findings) {
    const { place, text } = read[index]!;
    const { path } = place;
    const value = { kind: found, normal: text.slice(start, end) };
    const isReplaced = replacement !== undefined && !guard.isBeside && guard.action !== "flag";
    verdicts.note(guard, "input", value, path, isReplaced ? "masked" : undefined);
    if (guard.action === "block" && !isReplaced) throw new BlockedError(guard, found, verdicts.placeOf(path));
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
  if (guard.action === "flag") return;
  const seen = findings.map(({ index, ...finding }) => {
    const one = read[index]!;
    const written = one.text.slice(finding.start, finding.end);
    return { one, ...finding, written, normal: written };
  });
  if (seen.length === 0) return;
  if (guard.action === "replace") map.add(seen.filter(({ replacement }) => replacement === undefined));
  const substitutes = new Map<string, string>();
  const known = new Map<Inspected, Edit[]>();
  for (const { one, start, end, kind, replacement, isRewrite, written } of seen) {
    const text = replacement ?? (guard.action === "replace" ? map.tokens.get(written)! : `[${kind}]`);
    if (!isRewrite && !substitutes.has(written)) substitutes.set(written, text);
    const edits = known.get(one) ?? [];
    if (edits.every((edit) => edit.end <= start || edit.start >= end)) edits.push({ start, end, text });
    known.set(one, edits);
  }
  replaceAll(substitutes, texts, { known });
}
