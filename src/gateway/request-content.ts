/** What a request, or a part of it, has of each kind: text, structure, media and tools. Sums do not depend on the order. */
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { MediaMember, SizeMembers } from "../core/size-members.ts";
import { IMAGE_TOKENS } from "../core/tokens/image-tokens.ts";
import { MostTokens, type TextTokens } from "../core/tokens/most-tokens.ts";

/** The most tokens of a document that a provider fetches. */
const DOCUMENT_TOKENS = 160_000;
/** Characters of base64 for a token of a document, of audio or of video. */
const CHARACTERS_PER_TOKEN = 20;
const SEALED_CHARACTERS_PER_TOKEN = 2;
/** Quotes, colon and comma around a member; the quotes and the comma of an element. */
const MEMBER_TOKENS = 3;
const ELEMENT_TOKENS = 1;

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

export class Content {
  structure = 0;
  media = 0;
  /** Tools at any depth, but not in what is opaque. */
  hasTools = false;
  /** One of them is run by the provider. */
  hasServerTools = false;
  readonly #text = new MostTokens();
  readonly #size: SizeMembers;
  readonly #named: Named;

  constructor(size: SizeMembers) {
    this.#size = size;
    this.#named = namedOf(size);
  }

  get text(): TextTokens {
    const { words, digits, signs, scripts } = this.#text;
    return { words, digits, signs, scripts };
  }

  /** Whether strings may be media in the value of a top-level member: what is beside it decides. */
  isMedia(name: string): boolean {
    return this.#named.media.has(name) && !this.#named.opaque.has(name);
  }

  /** Adds what another part of the request has. */
  add(other: Content): void {
    this.structure += other.structure;
    this.media += other.media;
    this.hasTools ||= other.hasTools;
    this.hasServerTools ||= other.hasServerTools;
    this.#text.addCounted(other.#text);
  }

  read(value: Json): void {
    this.#read(value, "", "", undefined, false);
  }

  /** Reads a top-level member without its value. */
  readName(name: string): void {
    this.structure += MEMBER_TOKENS;
    this.#text.addCounted(countOfName(name));
  }

  /** Reads the value of a top-level member that is no media. */
  readValue(name: string, value: Json): void {
    if (this.#named.tools.has(name)) this.#addTools(value);
    this.#read(value, name, "", undefined, this.#named.opaque.has(name));
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
        this.readName(inner);
        if (!isOpaque && this.#named.tools.has(inner)) this.#addTools(value[inner]!);
        // A string in `inner` is in the object that `name` holds.
        this.#read(value[inner]!, inner, name, value, isOpaque || this.#named.opaque.has(inner));
      }
    else this.structure += ELEMENT_TOKENS;
  }

  #addTools(value: Json): void {
    for (const tool of listOf(value)) {
      this.hasTools = true;
      this.hasServerTools ||= isServerTool(tool, this.#size);
    }
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
