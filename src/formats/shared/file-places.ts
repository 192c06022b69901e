/** Finds the files that requests name by the tables of the formats, and writes what goes in place of a name. */
import type { FileContent, FilePlace, FilePlaces, FileSplice } from "../../core/file-places.ts";
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import { type BytesNode, readJson } from "../../stream/json-nodes.ts";
import { keyStart, type Span, stringEnd } from "../../stream/scan.ts";
import { mayHoldName } from "../../stream/spelling.ts";

/** An object that may name a file, or a list of such objects, and where in it further ones are. */
export interface FileWay {
  readonly members?: Readonly<Record<string, FileWay>>;
  /** Members of any other name. */
  readonly others?: FileWay;
  /** @param path of the object @returns the file that the object names */
  readonly named?: (object: ObjectBytes, path: string) => FilePlace | readonly FilePlace[] | undefined;
}

/** A JSON value that holds the content of a file. */
export type Filled = readonly (string | FileContent)[];

const BASE64: FileContent = { as: "base64" };

/** The content in base64, as a JSON string. */
export const asBase64: Filled = ['"', BASE64, '"'];
/** The content as a JSON string of its text. */
export const asText: Filled = [{ as: "string" }];

/** The content as a data URI. */
export function asDataUri(mediaType: string): Filled {
  return [`"data:${mediaType};base64,`, BASE64, '"'];
}

/** An object in its bytes. Of a name that comes twice, the last member counts, as for parsers. */
export class ObjectBytes {
  readonly #bytes: Uint8Array;
  readonly #members = new Map<string, BytesNode>();
  /** Members that come again later. */
  readonly #overridden: (readonly [string, BytesNode])[] = [];
  readonly #spell: Spell;

  constructor(bytes: Uint8Array, node: BytesNode, spell: Spell) {
    this.#bytes = bytes;
    this.#spell = spell;
    for (const [written, value] of node.entries()) {
      const name = spell(written);
      const earlier = this.#members.get(name);
      if (earlier) this.#overridden.push([name, earlier]);
      this.#members.set(name, value);
    }
  }

  text(name: string): string | undefined {
    const value = this.#members.get(name)?.scalar();
    return typeof value === "string" ? value : undefined;
  }

  object(name: string): ObjectBytes | undefined {
    const node = this.#members.get(name);
    return node?.type === "object" ? new ObjectBytes(this.#bytes, node, this.#spell) : undefined;
  }

  /** The texts of a list, with their indexes. */
  texts(name: string): (readonly [number, string])[] {
    const node = this.#members.get(name);
    const items = node?.type === "array" ? [...node.items()] : [];
    return items.flatMap((item, index) => {
      const text = item.scalar();
      return typeof text === "string" ? [[index, text] as const] : [];
    });
  }

  /**
   * Replaces a member by others. One that the object has already gets the new value at its own place, so that no name comes twice.
   * @param name of a member that the object has @param values in JSON
   */
  replaced(name: string, values: Readonly<Record<string, Filled>>): FileSplice[] {
    const own = this.#members.get(name)!;
    const splices: FileSplice[] = [];
    const added: Filled[] = [];
    for (const [member, value] of Object.entries(values)) {
      const { start, end } = this.#members.get(member) ?? own;
      if (this.#members.has(member)) splices.push({ start, end, parts: value });
      else added.push([...(added.length > 0 ? [","] : []), `${JSON.stringify(member)}:`, ...value]);
    }
    if (added.length === 0) splices.push({ start: own.start, end: own.end, parts: ["null"] });
    else splices.push({ start: keyStart(this.#bytes, own.start), end: own.end, parts: added.flat() });
    const to = Object.keys(values).find((member) => !this.#members.has(member));
    return to === undefined ? splices : [...splices, ...this.#renamedEarlier(name, to)];
  }

  /** Gives a member another name. @param name of a member that the object has */
  renamed(name: string, to: string): FileSplice[] {
    return [this.#withKey(this.#members.get(name)!, to), ...this.#renamedEarlier(name, to)];
  }

  /** A member that counted for nothing must not count once the later one has another name. */
  #renamedEarlier(name: string, to: string): FileSplice[] {
    return this.#overridden.flatMap(([each, value]) => (each === name ? [this.#withKey(value, to)] : []));
  }

  #withKey({ start }: BytesNode, to: string): FileSplice {
    return { ...keyAt(this.#bytes, start), parts: [JSON.stringify(to)] };
  }
}

/** The key with its quotes. @param value where its value begins */
function keyAt(bytes: Uint8Array, value: number): Span {
  const start = keyStart(bytes, value);
  return { start, end: stringEnd(bytes, start) + 1 };
}

type Spell = (name: string) => string;

/**
 * The places of a format.
 * @param names of members in which a file is named, of letters and underscores @param request the way through the body
 * @param spell gives the name of a member that the table has
 */
export function filePlaces(
  names: readonly string[],
  request: FileWay,
  spell: Spell = (name) => name,
): FilePlaces {
  return {
    mayHave: (bytes) => names.some((name) => mayHoldName(bytes, name)),
    in(bytes) {
      const found: FilePlace[] = [];
      walk(request, readJson(bytes), "", { bytes, spell, found });
      return found;
    },
  };
}

interface Walking {
  readonly bytes: Uint8Array;
  readonly spell: Spell;
  readonly found: FilePlace[];
}

function walk(way: FileWay, node: BytesNode, path: string, walking: Walking): void {
  if (node.type === "array") {
    let index = 0;
    for (const item of node.items()) walk(way, item, `${path}[${index++}]`, walking);
  }
  if (node.type !== "object") return;
  const { bytes, spell, found } = walking;
  const places = way.named?.(new ObjectBytes(bytes, node, spell), path) ?? [];
  found.push(...[places].flat());
  const { members = {}, others } = way;
  for (const [name, value] of node.entries()) {
    const known = spell(name);
    const next = Object.hasOwn(members, known) ? members[known] : others;
    if (next) walk(next, value, path === "" ? name : `${path}.${name}`, walking);
  }
}

/** @param what completes "is …, and …" */
export function misplaced(path: string, mediaType: string, what: string): GatewayError {
  return invalidRequest(`${path}: the file is of type ${mediaType}, and ${what}.`, path, "unsupported_value");
}

/** Names of files for which no bytes can stand. @param what completes "weir cannot …" */
export function unfilled(name: string, path: string, what: string): FilePlace {
  return {
    ...{ name, path },
    put: () => {
      throw invalidRequest(`${path}: weir cannot ${what}.`, path, "unsupported_value");
    },
  };
}
