/** How large a request is, for the estimate of its cost. It is that of the parsed body: a spelling of JSON changes nothing. */
import type { EmbedInput } from "../core/embed.ts";
import type { ClientRoutes } from "../core/format.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { RequestSize } from "../core/ledger.ts";
import { Recent } from "../core/recent.ts";
import type { SizeMembers } from "../core/size-members.ts";
import { CUT_SHORT, hashOf, type Layout, layoutOf, type Member } from "../stream/outline/layout.ts";
import type { Span } from "../stream/scan.ts";
import { Content } from "./request-content.ts";
import type { CallCodec, Incoming } from "./types.ts";

/** Parts of a request that are read. */
export type Sized = Pick<Incoming, "body"> &
  Partial<Pick<Incoming, "bytes" | "call">> & {
    stored?: Pick<NonNullable<Incoming["stored"]>, "added">;
    cached?: Pick<NonNullable<Incoming["cached"]>, "tokens">;
    format: { client: Pick<CallCodec, "facts"> & { routes?: Pick<ClientRoutes, "address"> } };
  };

/** @param sized `stored`: what weir adds to the request; `cached`: what its provider adds */
export function sizeOf(sized: Sized): RequestSize {
  const { bytes, stored, format } = sized;
  const size = format.client.facts.size ?? NO_MEMBERS;
  const parts = bytes && partsOf(bytes, sized, size);
  const content = parts?.content ?? new Content(size);
  const body = parts?.short ?? sized.body;
  if (!parts) content.read(body);
  for (const item of stored?.added ?? []) content.read(item);
  return {
    text: content.text,
    structure: content.structure,
    mediaTokens: content.media + (sized.cached?.tokens ?? 0),
    hasTools: content.hasTools,
    hasServerTools:
      content.hasServerTools || (size.serverMembers?.some((name) => body[name] !== undefined) ?? false),
    ...limitsIn(body, size, sized),
    tier: wordIn(body, size.tier),
    speed: wordIn(body, size.speed),
  };
}

/** Blocks whose content is kept. A block has some kilobytes, and its content some hundred bytes. */
const MOST_BLOCKS = 4096;
/** The value of a member from this length on is a block, or a list of them. Bytes. */
const LONG_VALUE = 1024;

/** The content of blocks, by their hash and what else decides it: a conversation repeats its blocks with every turn. */
const known = new Recent<Content>(MOST_BLOCKS);

/** A body without its long strings, and the content of the whole body. */
interface Parts {
  short: JsonObject;
  content: Content;
}

/**
 * Reads a body member by member, long ones block by block, so that only new blocks are parsed.
 * @returns undefined for a body that has to be read as a whole
 */
function partsOf(bytes: Uint8Array, { call, format }: Sized, size: SizeMembers): Parts | undefined {
  const layout = layoutOf(bytes);
  const { address } = format.client.routes ?? {};
  if (!layout || (address && !call)) return undefined;
  const content = new Content(size);
  // The URL says these members, whatever the body says of them.
  const fromUrl: JsonObject = address ? { model: call!.model, stream: call!.stream } : {};
  const members = layout.members.filter(({ name }) => !Object.hasOwn(fromUrl, name));
  if (members.some(({ name }) => content.isMedia(name))) return undefined;
  content.read(fromUrl);
  const short = { ...layout.short, ...fromUrl };
  for (const member of members) readMember(member, layout, content, size, call?.principal?.id ?? "");
  for (const name of [size.tier, size.speed])
    if (name !== undefined && short[name] === CUT_SHORT)
      short[name] = valueIn(
        layout,
        members.find((member) => member.name === name)!,
      );
  return { short, content };
}

/** @param caller whose blocks are found again: how fast one is counted says nothing of the prompts of others */
function readMember(
  member: Member,
  layout: Layout,
  content: Content,
  size: SizeMembers,
  caller: string,
): void {
  const { name, start, end } = member;
  content.readName(name);
  if (end - start < LONG_VALUE) return content.readValue(name, shortValueIn(layout, member));
  const isList = layout.isList(member);
  const context = contextOf(name, isList, size, caller);
  const counted = (hash: bigint, read: (part: Content) => void) => {
    const key = hash ^ context;
    const found = known.get(key);
    if (found) return content.add(found);
    const part = new Content(size);
    read(part);
    content.add(known.put(key, part));
  };
  if (!isList)
    return counted(hashOf(layout.bytes, member), (part) => part.readValue(name, valueIn(layout, member)));
  for (const block of layout.blocksOf(member))
    counted(block.hash, (part) => part.readValue(name, JSON.parse(`[${textIn(layout, block)}]`) as Json));
}

/** What decides the content of a block beside its bytes. */
function contextOf(name: string, isList: boolean, size: SizeMembers, caller: string): bigint {
  let number = numbers.get(size);
  if (number === undefined) numbers.set(size, (number = ++formats));
  return Bun.hash.xxHash3(`${number} ${isList} ${name.length} ${name} ${caller}`);
}

let formats = 0;
const numbers = new WeakMap<SizeMembers, number>();

function textIn({ bytes }: Layout, { start, end }: Span): string {
  return bytes.toString("utf8", start, end);
}

/** Numbers, words and short strings are the same in the shortened body. */
function shortValueIn(layout: Layout, member: Member): Json {
  const value = layout.short[member.name]!;
  const isSame = typeof value === "string" ? value !== CUT_SHORT : typeof value !== "object";
  return isSame ? value : valueIn(layout, member);
}

function valueIn(layout: Layout, span: Span): Json {
  return JSON.parse(textIn(layout, span)) as Json;
}

/** The size of a request for embeddings. It has no output. */
export function sizeOfInputs(inputs: readonly EmbedInput[]): RequestSize {
  const content = new Content(NO_MEMBERS);
  let ids = 0;
  for (const input of inputs)
    if (typeof input === "string") content.read(input);
    else ids += input.length;
  const { text } = content;
  return {
    ...{ text, structure: inputs.length + ids, mediaTokens: 0, hasTools: false, hasServerTools: false },
    ...{ maxTokens: 0, choices: 1 },
  };
}

const NO_MEMBERS: SizeMembers = { maxTokens: [], tools: [], serverToolTypes: [] };

function limitsIn(
  body: JsonObject,
  { maxTokens, choices = [], within, listed }: SizeMembers,
  sized: Pick<Sized, "body">,
) {
  const objects = within ? within.map((name) => body[name]).filter(isObject) : [body];
  // Providers differ in which of several limits they observe.
  const most = (names: readonly string[]) => {
    const found = objects.flatMap((object) => names.map((name) => object[name])).filter(isPositive);
    return found.length === 0 ? undefined : Math.max(...found);
  };
  const each = most([choices].flat()) ?? 1;
  return { maxTokens: most(maxTokens), choices: each * (listed ? countOf(sized.body[listed]) : 1) };
}

/** Token ids of one text are one text. */
function countOf(list: Json | undefined): number {
  return Array.isArray(list) && list.length > 0 && typeof list[0] !== "number" ? list.length : 1;
}

function isPositive(value: Json | undefined): value is number {
  return typeof value === "number" && value > 0;
}

function wordIn(body: JsonObject, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : body[name];
  return typeof value === "string" ? value : undefined;
}
