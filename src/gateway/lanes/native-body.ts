/**
 * The body of a native call: the client's bytes, with as few top-level members changed as possible. Key order, white space
 * and numbers stay as the client wrote them, because prompt caches, signatures and exact numbers depend on them.
 */
import type { Attempt } from "../../core/call.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/json.ts";
import type { Envelope } from "../../core/provider.ts";
import { editMembers } from "../../stream/scan.ts";
import { mayHold } from "../../stream/spelling.ts";
import { viewOf } from "../plugins/call-view.ts";
import type { Incoming } from "../types.ts";

export interface NativeBody {
  /** The body in pieces; the client's bytes are not copied. */
  pieces: Uint8Array[];
  /** Top-level members that differ from what the client sent. */
  changed: readonly string[];
  /** weir asks for token counts, which the client did not ask for. */
  asksForUsage: boolean;
  /** It asks for a stream. */
  streams: boolean;
}

/** The parts of a request that its native body is made from. */
export type NativeSource = Pick<Incoming, "bytes" | "body" | "spanOf">;

/**
 * Replaces the model name by the provider's, removes reasoning that was sealed for another vendor and what the host lacks by
 * the config, renames members that the provider knows by another name, and applies its `envelope` and `patch`.
 * @param askForUsage whether weir asks for the token counts of a stream if the client did not
 */
export function nativeBody(
  source: NativeSource,
  attempt: Attempt,
  codec: UpstreamCodec,
  askForUsage: boolean,
): NativeBody {
  const { bytes } = source;
  const { call, target } = attempt;
  const { provider } = target;
  const edits: Edits = new Map();
  if (target.model !== call.model && !codec.address.requestInUrl)
    edits.set("model", JSON.stringify(target.model));
  const unsealed = holdsSealed(bytes, codec.native.sealedMark)
    ? codec.native.withoutSealed?.(source.body, attempt.context)
    : undefined;
  if (unsealed) for (const [name, text] of changedMembers(source.body, unsealed)) edits.set(name, text);
  const fitted = target.fitsNative ? codec.native.fit?.(unsealed ?? source.body, attempt.context) : undefined;
  if (fitted) for (const [name, text] of changedMembers(source.body, fitted)) edits.set(name, text);
  const streams =
    fitted && fitted["stream"] !== source.body["stream"] ? fitted["stream"] === true : call.stream;
  const envelope = provider.envelope?.[target.format];
  if (envelope?.defaults) addAbsent(envelope.defaults(viewOf(attempt)), source, edits);
  if (target.body) addAbsent(target.body, source, edits);
  if (envelope) applyEnvelope(envelope, source, attempt, edits);
  const { patch } = provider;
  if (patch) {
    const body = { ...(fitted ?? unsealed ?? source.body), model: target.model };
    for (const [name, text] of editsOf(body, (view) => patch.call(provider, view, viewOf(attempt))))
      edits.set(name, text);
  }
  for (const [from, to] of codec.native.renamedMembers?.(attempt.context.target) ?? [])
    rename(source, from, to, edits);
  const usage = askForUsage && streams ? usageEdit(source, codec) : undefined;
  // The provider's envelope or patch wins if it sets the same member.
  const asksForUsage = usage !== undefined && !edits.has(usage[0]);
  if (asksForUsage) edits.set(...usage);
  const pieces = edits.size === 0 ? [bytes] : editMembers(bytes, edits, source.spanOf);
  return { pieces, changed: [...edits.keys()], asksForUsage, streams };
}

type Edits = Map<string, string | undefined>;

function addAbsent(members: Readonly<JsonObject>, { spanOf }: NativeSource, edits: Edits): void {
  for (const [name, value] of Object.entries(members))
    if (!spanOf(name)) edits.set(name, JSON.stringify(value));
}

function applyEnvelope(
  { without = [], with: extra }: Envelope,
  { spanOf }: NativeSource,
  attempt: Attempt,
  edits: Edits,
): void {
  const added = extra?.(viewOf(attempt), attempt.call.stream) ?? {};
  for (const name of without) {
    if (!spanOf(name)) continue;
    edits.set(name, undefined);
    if (!IN_URL.has(name) && !Object.hasOwn(added, name))
      attempt.context.reportLoss("dropped", name, "the provider does not accept the field");
  }
  for (const [name, value] of Object.entries(added)) edits.set(name, JSON.stringify(value));
}

/** Members that a host takes in its URL if its envelope removes them from the body. */
const IN_URL: ReadonlySet<string> = new Set(["model", "stream"]);

/** Whether a string of the body may be a sealed value. */
function holdsSealed(bytes: Uint8Array, mark = PLAIN_MARK): boolean {
  let needle = needles.get(mark);
  if (!needle) needles.set(mark, (needle = Buffer.from(`"${mark}`)));
  return mayHold(bytes, needle);
}

const PLAIN_MARK = "weir1.";
/** The beginnings of sealed values as bytes, by the mark of the format. */
const needles = new Map<string, Buffer>();

/** The top-level members in which two bodies differ, with the text of the later value. Compares values by identity. */
export function changedMembers(before: JsonObject, after: JsonObject): Map<string, string | undefined> {
  const edits = new Map<string, string | undefined>();
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (after[name] !== before[name]) edits.set(name, JSON.stringify(after[name]));
  return edits;
}

/** Renames a member, unless the client or the patch already sets the new name. */
function rename(
  { bytes, spanOf }: NativeSource,
  from: string,
  to: string,
  edits: Map<string, string | undefined>,
): void {
  const span = spanOf(from);
  if (!span || edits.has(from) || spanOf(to) || edits.has(to)) return;
  edits.set(from, undefined);
  edits.set(to, Buffer.from(bytes.subarray(span.start, span.end)).toString());
}

function usageEdit(
  { bytes, spanOf }: NativeSource,
  { native: { usageRequest } }: UpstreamCodec,
): [string, string] | undefined {
  if (!usageRequest) return undefined;
  const span = spanOf(usageRequest.member);
  const current = span && parseJson(Buffer.from(bytes.subarray(span.start, span.end)).toString());
  const value = usageRequest.ask(current);
  return value === undefined ? undefined : [usageRequest.member, JSON.stringify(value)];
}

/**
 * Runs an edit on a copy of the body.
 * @returns the top-level members that it changed, at any depth: the new value as JSON text, `undefined` for a removed member.
 * Objects and lists are copied when the edit first reads them: the body stays unchanged for the next attempt, and members
 * that the edit does not read cost nothing.
 */
export function editsOf(body: JsonObject, edit: (view: JsonObject) => void): Map<string, string | undefined> {
  const view: JsonObject = {};
  const copied = new Map<string, string>();
  for (const [name, value] of Object.entries(body))
    Object.defineProperty(
      view,
      name,
      typeof value === "object" && value !== null ? copyOnRead(name, value, copied) : { value, ...PLAIN },
    );
  edit(view);
  const edits = new Map<string, string | undefined>();
  for (const name of Object.keys(body)) {
    const now = Object.getOwnPropertyDescriptor(view, name);
    if (now?.get || (now && now.value === body[name])) continue;
    const text = JSON.stringify(now?.value) as string | undefined;
    if (!copied.has(name) || text !== copied.get(name)) edits.set(name, text);
  }
  for (const name of Object.keys(view))
    if (!Object.hasOwn(body, name) && view[name] !== undefined) edits.set(name, JSON.stringify(view[name]));
  return edits;
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

/** A property that becomes a copy of `value` when it is first read. */
function copyOnRead(name: string, value: object, copied: Map<string, string>): PropertyDescriptor {
  return {
    enumerable: true,
    configurable: true,
    get(this: JsonObject) {
      const text = JSON.stringify(value);
      copied.set(name, text);
      const copy: unknown = JSON.parse(text);
      Object.defineProperty(this, name, { value: copy, ...PLAIN });
      return copy;
    },
    set(this: JsonObject, given: unknown) {
      Object.defineProperty(this, name, { value: given, ...PLAIN });
    },
  };
}
