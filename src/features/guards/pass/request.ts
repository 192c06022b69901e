/** Lets a request pass the guards: what goes on has tokens in place of values. */
import { GatewayError } from "../../../core/error.ts";
import type { TextPlace, TextPlaces } from "../../../core/text-places.ts";
import type { Edited } from "../../../gateway/seams.ts";
import { withStrings } from "../../../stream/json-nodes.ts";
import { scanBody, type Span } from "../../../stream/scan.ts";
import { askAbout, type Asking } from "../ask/request.ts";
import { fence } from "../flow/fence.ts";
import { exceeded } from "../flow/limits.ts";
import { Rerouted, type RequestFinding } from "../flow/route.ts";
import type { Guard } from "../guard.ts";
import { escaped } from "../replace/edits.ts";
import { BlockedError, type Verdicts } from "../verdicts.ts";
import { changesIn, inspectedIn } from "./inner.ts";
import type { Passing } from "./passing.ts";
import { type Inspected, OPAQUE, replaceAll } from "./texts.ts";

/**
 * @returns undefined: the request goes on as it came. A promise only if a guard asks.
 * @throws GatewayError of a guard that blocks
 */
export function guardRequest(
  bytes: Uint8Array,
  places: TextPlaces,
  passing: Passing,
): Edited | undefined | Promise<Edited | undefined> {
  const texts: Inspected[] = [];
  for (const place of places.request(bytes, true)) {
    const inspected = inspectedIn(place);
    assertRead(inspected[0]?.encoded ? inspected[0].place : place, passing);
    texts.push(...inspected);
  }
  const now = () => written(bytes, texts);
  const pending = applyAll(passing.guards, { texts, now }, passing);
  return pending ? pending.then(now) : now();
}

/** Notes a text that weir cannot read. @throws GatewayError if the guards refuse it */
export function assertRead(
  place: TextPlace,
  { guards, verdicts, refusesUnread }: Pick<Passing, "guards" | "verdicts" | "refusesUnread">,
): void {
  const kind = place.fixed ?? (OPAQUE.has(place.kind) ? place.kind : undefined);
  if (kind === undefined) return;
  for (const guard of guards) if (guard.readsRequests) verdicts.unread(guard, kind);
  if (refusesUnread) throw unread(place);
}

/** Each guard sees what the one before made. */
export function applyAll(
  guards: readonly Guard[],
  request: Asking,
  passing: Passing,
): Promise<void> | undefined {
  for (const [at, guard] of guards.entries()) {
    applyGuard(guard, request.texts, passing);
    const { asked } = guard;
    if (!asked || passing.asksNothing) continue;
    const asking = askAbout(guard, asked, request, passing);
    if (!guard.isBeside) return asking.then(() => applyAll(guards.slice(at + 1), request, passing));
    // It is awaited with the answer.
    asking.catch(() => {});
    passing.beside.push(asking);
  }
  return undefined;
}

/** @returns undefined: nothing has changed */
function written(bytes: Uint8Array, texts: readonly Inspected[]): Edited | undefined {
  const changed = changesIn(texts);
  return changed.length === 0 ? undefined : editedRequest(withStrings(bytes, changed));
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
  let members: ReadonlyMap<string, Span> | undefined;
  return {
    bytes,
    spanOf: (name) => (members ??= scanBody(bytes, Infinity).members).get(name),
    get body() {
      return JSON.parse(Buffer.from(bytes).toString());
    },
  };
}

/** Notes the limits that a request exceeds. @throws BlockedError */
function limited(guard: Guard, texts: readonly Inspected[], { verdicts }: Passing): RequestFinding[] {
  if (!guard.limits) return [];
  const read = texts.filter(({ place }) => guard.reads(place));
  verdicts.ran(guard, "input", 0);
  return exceeded(guard.limits, texts, read).map(({ kind, path, why }) => {
    const place = verdicts.placeOf(path);
    verdicts.note(guard, "input", { kind, normal: "" }, path);
    if (guard.action === "block")
      throw new BlockedError(guard, kind, place || undefined, `refused ${place || "the request"}: ${why}.`);
    return { kind, normal: "", path };
  });
}

/** The texts in which a guard finds values. */
function foundBy(guard: Guard, texts: readonly Inspected[], verdicts: Verdicts) {
  const read = texts.filter(({ place, text }) => text !== "" && guard.reads(place));
  if (read.length === 0) return [];
  const startedAt = performance.now();
  const all = read.map(({ place, text }) => ({ place, text, found: guard.find(text) }));
  verdicts.ran(guard, "input", performance.now() - startedAt);
  return all.filter(({ found }) => found.length > 0);
}

function applyGuard(guard: Guard, texts: readonly Inspected[], passing: Passing): void {
  const { map, verdicts } = passing;
  if (guard.fences) {
    verdicts.ran(guard, "input", 0);
    fence(texts, map);
  }
  // What a guard only asks has a verdict when it was asked.
  if (guard.detectors.length === 0 && !guard.limits) return;
  const values = new Map<string, { kind: string; normal: string; written: string }>();
  const findings = limited(guard, texts, passing);
  for (const { place, text, found } of foundBy(guard, texts, verdicts)) {
    // A vendor refuses signed texts that have changed, and has made them itself: a value in one stays.
    const stays = place.fixed && (guard.action === "replace" || guard.action === "mask");
    const verdict = stays ? "flagged" : undefined;
    for (const { kind, start, end, normal } of found) {
      verdicts.note(guard, "input", { kind, normal }, place.path, verdict);
      if (guard.action === "block") throw new BlockedError(guard, kind, verdicts.placeOf(place.path));
      const written = text.slice(start, end);
      values.set(written, { kind, normal, written });
      findings.push({ kind, normal, path: place.path });
    }
  }
  if (guard.action === "route" && findings.length > 0) throw new Rerouted(guard, findings);
  if (values.size === 0 || guard.action === "flag") return;
  if (guard.action === "replace") map.add(values.values());
  const substitute = (value: string) =>
    guard.action === "replace" ? map.tokens.get(value)! : `[${values.get(value)!.kind}]`;
  const substitutes = new Map([...values.keys()].map((value) => [value, substitute(value)]));
  const refusal = (value: string, { path }: TextPlace) => {
    const known =
      values.get(value) ?? [...values.values()].find(({ written }) => escaped(written) === value)!;
    verdicts.note(guard, "input", known, path, "blocked");
    return new BlockedError(guard, known.kind, verdicts.placeOf(path));
  };
  replaceAll(substitutes, texts, { refusal });
}
