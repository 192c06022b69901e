/** How large a request is, for the estimate of its cost. It is read from the parsed body: a spelling of JSON changes nothing. */
import type { EmbedInput } from "../core/embed.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { RequestSize } from "../core/ledger.ts";
import type { MediaMember, SizeMembers } from "../core/size-members.ts";
import { IMAGE_TOKENS } from "../core/tokens/image-tokens.ts";
import { MostTokens, type TextTokens } from "../core/tokens/most-tokens.ts";
import type { CallCodec, Incoming } from "./types.ts";

/** Parts of a request that are read. */
export type Sized = Pick<Incoming, "body"> & {
  stored?: Pick<NonNullable<Incoming["stored"]>, "added">;
  format: { client: Pick<CallCodec, "facts"> };
};

/** The most tokens of a document that a provider fetches. */
const DOCUMENT_TOKENS = 160_000;
/** Characters of base64 for a token of a document, of audio or of video. */
const CHARACTERS_PER_TOKEN = 20;
const SEALED_CHARACTERS_PER_TOKEN = 2;
/** Quotes, colon and comma around a member; the quotes and the comma of an element. */
const MEMBER_TOKENS = 3;
const ELEMENT_TOKENS = 1;

/** @param sized `stored`: what weir adds to the request */
export function sizeOf({ body, stored, format: { client } }: Sized): RequestSize {
  const size = client.facts.size ?? NO_MEMBERS;
  const content = new Content(size);
  content.read(body);
  for (const item of stored?.added ?? []) content.read(item);
  const { tools } = content;
  return {
    text: content.text,
    structure: content.structure,
    mediaTokens: content.media,
    hasTools: tools.length > 0,
    hasServerTools:
      (size.serverMembers?.some((name) => body[name] !== undefined) ?? false) ||
      tools.some((tool) => isServerTool(tool, size)),
    ...limitsIn(body, size),
    tier: wordIn(body, size.tier),
    speed: wordIn(body, size.speed),
  };
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

function limitsIn(body: JsonObject, { maxTokens, choices, within }: SizeMembers) {
  const objects = within ? within.map((name) => body[name]).filter(isObject) : [body];
  // Providers differ in which of several limits they observe.
  const most = (names: readonly string[]) => {
    const found = objects.flatMap((object) => names.map((name) => object[name])).filter(isPositive);
    return found.length === 0 ? undefined : Math.max(...found);
  };
  return { maxTokens: most(maxTokens), choices: (choices !== undefined && most([choices])) || 1 };
}

function isPositive(value: Json | undefined): value is number {
  return typeof value === "number" && value > 0;
}

function wordIn(body: JsonObject, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : body[name];
  return typeof value === "string" ? value : undefined;
}

/** A tool that the provider runs, or one that holds such tools. */
function isServerTool(tool: Json, size: SizeMembers): boolean {
  if (!isObject(tool)) return false;
  const { type } = tool;
  if (typeof type === "string" && size.serverToolTypes.some((beginning) => type.startsWith(beginning)))
    return true;
  if (size.serverToolKeys?.some((beginning) => Object.keys(tool).some((name) => name.startsWith(beginning))))
    return true;
  return toolsIn(tool, size).some((each) => isServerTool(each, size));
}

function toolsIn(object: JsonObject, { tools }: SizeMembers): readonly Json[] {
  return tools.flatMap((name) => (object[name] === undefined ? [] : listOf(object[name])));
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}

/** Media and opaque members by name, made once for each format. */
interface Named {
  tools: ReadonlySet<string>;
  media: ReadonlyMap<string, MediaMember>;
  opaque: ReadonlySet<string>;
}

const named = new WeakMap<SizeMembers, Named>();

function namedOf(size: SizeMembers): Named {
  let found = named.get(size);
  if (!found) {
    const { media = {}, opaque = [], tools } = size;
    found = {
      tools: new Set(tools),
      media: new Map(Object.entries(media)),
      opaque: new Set([...opaque, ...tools]),
    };
    named.set(size, found);
  }
  return found;
}

/** Most names of members whose count is kept, and the longest of them: clients choose names too. Characters. */
const MOST_NAMES = 1024;
const LONGEST_NAME = 32;

/** Names of members, which requests repeat, and what each counts. */
const countedNames = new Map<string, MostTokens>();

function countOfName(name: string): MostTokens {
  const known = countedNames.get(name);
  if (known) return known;
  const count = new MostTokens();
  count.add(name);
  if (countedNames.size < MOST_NAMES && name.length <= LONGEST_NAME) countedNames.set(name, count);
  return count;
}

/** Sums what the values of a body have of each kind. The order of members does not change the sums. */
class Content {
  structure = 0;
  media = 0;
  /** Tools at any depth, but not in what is opaque. */
  readonly tools: Json[] = [];
  readonly #text = new MostTokens();
  readonly #named: Named;

  constructor(size: SizeMembers) {
    this.#named = namedOf(size);
  }

  get text(): TextTokens {
    const { words, digits, signs, scripts } = this.#text;
    return { words, digits, signs, scripts };
  }

  read(value: Json): void {
    this.#read(value, "", "", undefined, false);
  }

  /**
   * @param name of the member whose value it is, or holds it in a list @param holder the member that holds its object
   * @param owner its object
   */
  #read(value: Json, name: string, holder: string, owner: JsonObject | undefined, isOpaque: boolean): void {
    if (typeof value === "string") {
      const member = isOpaque ? undefined : this.#named.media.get(name);
      if (member && owner && isMedia(member, holder, owner)) this.#addMedia(value, member, owner);
      else this.#addText(value);
    } else if (typeof value === "number") this.#addText(String(value));
    else if (Array.isArray(value)) {
      this.structure += value.length * ELEMENT_TOKENS;
      for (const element of value) this.#read(element, name, holder, owner, isOpaque);
    } else if (value !== null && typeof value === "object")
      for (const inner in value) {
        this.structure += MEMBER_TOKENS;
        this.#text.addCounted(countOfName(inner));
        if (!isOpaque && this.#named.tools.has(inner)) this.tools.push(...listOf(value[inner]!));
        // A string in `inner` is in the object that `name` holds.
        this.#read(value[inner]!, inner, name, value, isOpaque || this.#named.opaque.has(inner));
      }
    else this.structure += ELEMENT_TOKENS;
  }

  #addText(value: string): void {
    this.#text.next();
    this.#text.add(value);
  }

  #addMedia(value: string, { as, binary, most = DOCUMENT_TOKENS }: MediaMember, owner: JsonObject): void {
    if (as === "sealed") {
      this.media += Math.ceil(value.length / SEALED_CHARACTERS_PER_TOKEN);
      return;
    }
    const url = as === "link" ? undefined : DATA_URL.exec(value);
    if (url) return this.#addData(value.slice(url[0].length), url[1]!, binary);
    if (as === "data") return this.#addData(value, typeBeside(owner), binary);
    this.media += most;
  }

  /** @param type the media type; empty if it is not known */
  #addData(base64: string, type: string, binary = false): void {
    if (IMAGE_TYPE.test(type) || IMAGES.some((beginning) => base64.startsWith(beginning)))
      this.media += IMAGE_TOKENS;
    else if (binary || BINARY_TYPE.test(type) || BINARIES.some((beginning) => base64.startsWith(beginning)))
      this.media += Math.ceil(base64.length / CHARACTERS_PER_TOKEN);
    else this.#addText(Buffer.from(base64, "base64").toString());
  }
}

/** Matches the part of a data URL before its base64. */
const DATA_URL = /^data:([^,]*?);base64,/i;
const IMAGE_TYPE = /^image\//i;
const BINARY_TYPE = /^(?:audio|video)\/|^application\/pdf\b/i;
/** Beginnings of images in base64: PNG, JPEG, GIF, WebP. */
const IMAGES: readonly string[] = ["iVBOR", "/9j/", "R0lGOD", "UklGR"];
/** PDF, and archives such as documents of an office. */
const BINARIES: readonly string[] = ["JVBER", "UEsDB"];

/** In these members the type of base64 is beside it. */
const TYPES: readonly string[] = ["media_type", "mimeType", "mime_type"];

function typeBeside(owner: JsonObject): string {
  const found = TYPES.map((name) => owner[name]).find((type) => typeof type === "string");
  return typeof found === "string" ? found : "";
}

function isMedia(member: MediaMember, holder: string, owner: JsonObject): boolean {
  if (member.in && !member.in.includes(holder)) return false;
  return member.type === undefined || owner["type"] === member.type;
}
