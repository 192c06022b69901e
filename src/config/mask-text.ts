/** Masks the secrets of a config file in its text, however they are written: by the spans of the values in the YAML document. */
import type { TSchema } from "@sinclair/typebox";
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Document,
  type Pair,
  type Scalar,
} from "yaml";
import { nameFault } from "../core/name.ts";
import { Secret } from "../core/secret.ts";
import { splitKey } from "./sections/keys.ts";
import { CORE_OPTIONS } from "./schema.ts";
import { holdsSecret, memberOf } from "./shape.ts";

const MASK = "***";
/** A shorter text is no credential, and would hide half of the file. */
const SHORTEST = 4;

/** Names of members whose values are secrets, where no schema says it. */
const SECRET_NAME = /key|secret|token|password|sha256|authorization/i;
/** A line of a file that cannot be parsed, or a comment, with such a member. */
const SECRET_MEMBER =
  /^([\s#]*-?\s*["']?(?:[\w-]*(?:key|secret|token|password|sha256|authorization)[\w-]*)["']?\s*:\s*)(?!\s*$)(?!["']?\$\{)(.+)$/i;
/** Texts that look like a key of a vendor or of weir. */
const SECRET_TEXT = /\b(?:sk-|weir_(?:sk|ad|ro)_|AKIA|ghp_|xox[bp]-)[\w-]{6,}/g;
const URL_PASSWORD = /(:\/\/[^\s:/@]*:)[^\s@]+@/g;
/** A reference to a variable, a file or a store of secrets. Its default may be a secret. */
const REFERENCE = /\$\{([a-z][a-z0-9-]*:(?!-)[^}]*|[A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
/** A member of the file itself. */
const TOP_MEMBER = /^["']?([\w-]+)["']?\s*:/;
/** Text that may be in a comment as an entry of `keys`. */
const COMMENTED_ENTRY = /^(\s*#[\s#]*-\s*)(?!\$\{)(\S.*)$/;

/** Part of the text that becomes {@link MASK}, or a masked form of itself. */
interface Span {
  from: number;
  to: number;
  text: string;
}

export interface MaskOptions {
  /** Configs whose secrets are masked too: the active one, and the one that the text would make. */
  configs?: readonly unknown[];
  /** SHA-256 of gateway keys, in hexadecimal: their texts are known by nothing else. */
  digests?: readonly string[];
  /** Schema of a config file. Default: that of weir without features. */
  schema?: TSchema;
}

/** @param text of a config file, which need not be valid */
export function maskText(text: string, options: MaskOptions = {}): string {
  return maskTexts([text], options)[0]!;
}

/**
 * @param texts of the files of one config, the config file first: a secret of one is masked in all of them. A further one
 * that has no option is masked whole: `include` may name the file of a secret by mistake.
 */
export function maskTexts(
  texts: readonly string[],
  { configs = [], digests = [], schema = CORE_OPTIONS.file }: MaskOptions = {},
): string[] {
  const files = texts.map((text, index) => {
    const found = new Finder(text);
    const documents = readDocuments(text);
    for (const document of documents) found.walk(document, schema);
    const isValid = documents.every(({ errors }) => errors.length === 0);
    return {
      text,
      found,
      isValid,
      isConfig:
        index === 0 || documents.some((document) => hasOption(document, schema)) || !/^\s*[^\s#]/m.test(text),
    };
  });
  const values = [...files.flatMap(({ found }) => [...found.values]), ...configs.flatMap(secretsIn)]
    .filter(({ length }) => length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  const hide = (text: string) => values.reduce((hidden, value) => hidden.replaceAll(value, MASK), text);
  return files.map(({ text, found, isValid, isConfig }) =>
    isConfig
      ? maskLines(maskDigests(hide(apply(text, found.spans)), new Set(digests)), isValid)
      : text.replace(/\S.*/g, MASK),
  );
}

function readDocuments(text: string): Document[] {
  const options = { uniqueKeys: false, prettyErrors: false, strict: false, logLevel: "silent" } as const;
  const documents = parseAllDocuments(text, options);
  return Array.isArray(documents) ? documents : [];
}

function hasOption({ contents }: Document, schema: TSchema): boolean {
  return (
    isMap(contents) && contents.items.some(({ key }) => isScalar(key) && memberOf(schema, String(key.value)))
  );
}

/** Finds the spans of secrets in a document, and the texts that they stand for. */
class Finder {
  readonly spans: Span[] = [];
  readonly values = new Set<string>();
  readonly #text: string;
  readonly #seen = new Set<unknown>();

  constructor(text: string) {
    this.#text = text;
  }

  walk(document: Document, schema: TSchema): void {
    this.#node(document, document.contents, schema, false, 0);
  }

  /** @param isSecret every text below is a secret @param depth of aliases, which may be nested */
  #node(
    document: Document,
    node: unknown,
    schema: TSchema | undefined,
    isSecret: boolean,
    depth: number,
  ): void {
    if (isAlias(node)) {
      // The text is where the anchor is.
      if (depth < 20) this.#node(document, node.resolve(document), schema, isSecret, depth + 1);
    } else if (isScalar(node)) {
      if (isSecret || (schema !== undefined && isText(schema))) this.#scalar(node);
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries())
        this.#node(document, item, schema && memberOf(schema, index), isSecret, depth);
    } else if (isMap(node))
      for (const pair of node.items) this.#pair(document, pair, schema, isSecret, depth);
  }

  #pair(document: Document, pair: Pair, schema: TSchema | undefined, isSecret: boolean, depth: number): void {
    const name = isScalar(pair.key) ? String(pair.key.value) : "";
    // The map that a merge names counts as this one.
    if (name === "<<") return this.#node(document, pair.value, schema, isSecret, depth);
    const member = schema && memberOf(schema, name);
    if (member !== undefined) return this.#node(document, pair.value, member, isSecret, depth);
    // `- alice: secret`, and `- alice:secret: x`: a key that lacks its quotes is read as a map.
    const isLostKey = schema !== undefined && hasText(schema);
    if (isLostKey && isScalar(pair.key) && nameFault(name) !== undefined) this.#scalar(pair.key);
    this.#node(document, pair.value, undefined, isSecret || isLostKey || SECRET_NAME.test(name), depth);
  }

  #scalar(node: Scalar): void {
    const { range, value } = node;
    if (!range || this.#seen.has(node) || value === null || value === true || value === false) return;
    this.#seen.add(node);
    const [from, to] = range;
    const source = this.#text.slice(from, to);
    if (source === "") return;
    const written = String(value);
    const { visible, secrets } = masked(written);
    for (const secret of secrets) {
      this.values.add(secret);
      this.values.add(secret.trim());
    }
    const quote = /^["']/.exec(source)?.[0] ?? "";
    // Lines keep their numbers, which messages name.
    const end = "\n".repeat(source.split("\n").length - 1);
    this.spans.push({ from, to, text: `${quote}${visible}${quote}${end}` });
  }
}

/** A value with its secrets masked: the name of a key, and references, stay. */
function masked(value: string): { visible: string; secrets: string[] } {
  const secrets: string[] = [];
  const hide = (part: string): string => {
    const [, scheme = "", rest = part] = /^((?:Bearer|Basic)\s+)(.*)$/is.exec(part) ?? [];
    if (rest.trim() === "") return part.replaceAll("\n", " ");
    secrets.push(rest);
    return scheme + MASK;
  };
  const { name } = splitKey(value);
  const isNamed = name !== undefined && nameFault(name) === undefined && !value.startsWith("${");
  const rest = isNamed ? value.slice(value.indexOf(":") + 1) : value;
  let visible = isNamed ? `${name}:` : "";
  let at = 0;
  for (const match of rest.matchAll(REFERENCE)) {
    visible += hide(rest.slice(at, match.index));
    if (match[2]) secrets.push(match[2]);
    visible += match[2] ? `\${${match[1]}:-${MASK}}` : match[0];
    at = match.index + match[0].length;
  }
  return { visible: visible + hide(rest.slice(at)), secrets };
}

function apply(text: string, spans: readonly Span[]): string {
  let masked = "";
  let at = 0;
  for (const { from, to, text: written } of spans.toSorted((a, b) => a.from - b.from)) {
    if (from < at) continue;
    masked += text.slice(at, from) + written;
    at = to;
  }
  return masked + text.slice(at);
}

/** Whether a text in the place of the schema is a secret. */
function isText(schema: TSchema): boolean {
  return schema["writeOnly"] === true || hasText(schema);
}

/** Whether a text is one of several forms, and a secret. */
function hasText(schema: TSchema): boolean {
  const variants: TSchema[] = schema["anyOf"] ?? [];
  return variants.some((variant) => variant["writeOnly"] === true && holdsSecret(variant));
}

/** The texts of gateway keys, wherever they stand: in comments, in keys of maps, in a file that is not valid. */
function maskDigests(text: string, digests: ReadonlySet<string>): string {
  if (digests.size === 0) return text;
  const isKey = (part: string) => part.length >= SHORTEST && digests.has(new Secret(part).digest());
  return text.replaceAll(/[^\s"'`,{}[\]()<>]+/g, (word) => {
    if (isKey(word)) return MASK;
    for (let colon = word.indexOf(":"); colon >= 0; colon = word.indexOf(":", colon + 1)) {
      if (isKey(word.slice(colon + 1))) return word.slice(0, colon + 1) + MASK;
      if (isKey(word.slice(0, colon))) return MASK + word.slice(colon);
    }
    return word;
  });
}

/** Parts outside of every document: comments, and a file that is not valid YAML. */
function maskLines(text: string, isValid: boolean): string {
  let section = "";
  return text
    .split("\n")
    .map((line) => {
      section = TOP_MEMBER.exec(line)?.[1] ?? section;
      const isComment = /^\s*#/.test(line);
      let shown = isComment || !isValid ? line.replace(SECRET_MEMBER, `$1${MASK}`) : line;
      if (section === "keys" && isComment) shown = shown.replace(COMMENTED_ENTRY, `$1${MASK}`);
      // Below a broken list of keys any text may be one.
      if (section === "keys" && !isValid && !TOP_MEMBER.test(line)) shown = shown.replace(/\S.*/, MASK);
      return shown.replaceAll(SECRET_TEXT, MASK).replaceAll(URL_PASSWORD, `$1${MASK}@`);
    })
    .join("\n");
}

function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return [value.reveal()];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}
