/** Reads the config file of another gateway: YAML, or JSON with comments and trailing commas, as editors accept it. */
import { atOnce } from "../core/slices.ts";
import { parseText, readText } from "./document.ts";
import { ConfigError, type Path } from "./error.ts";

export interface ReadSource {
  /** Name of the file in messages. */
  name: string;
  value: unknown;
  /** Position of the value at a path: `config.json:7`. */
  locate(path: Path): string;
  /** Oddities of the file, one sentence each, without the full stop. */
  notes: string[];
}

/**
 * @param name name of the file in messages; one that ends in `.yaml` or `.yml` is YAML, any other JSON if it begins so
 * @throws ConfigError when it cannot be read, with the position of the fault when it is not valid
 */
export function readSource(file: string, name: string): ReadSource {
  const text = readText(file, name).replace(/^\uFEFF/, "");
  const isJson = !/\.ya?ml$/.test(name) && /^\s*(\/[/*]|[[{])/.test(text);
  const plain = isJson ? withoutComments(text) : text;
  if (plain.trim() === "") throw new ConfigError(`${name}:1`, "the file is empty");
  const notes: string[] = [];
  // The parsers of other gateways take the last one.
  const onRepeated = ({ message }: ConfigError) => {
    notes.push(`${message.replace(/\.$/, "")}; the last one counts`);
  };
  const { value, locate } = atOnce(parseText(plain, name, isJson ? "JSON" : "YAML", onRepeated));
  return { name, value, locate, notes };
}

/** A text, or a comment: what looks like a comment in a text is none. */
const TEXT_OR_COMMENT = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/[^\n]*|\/\*[^]*?\*\//g;

/** JSON with spaces in place of comments, so that positions stay, and in place of tabs, which YAML does not indent with. */
export function withoutComments(text: string): string {
  return text
    .replace(TEXT_OR_COMMENT, (found) => (found.startsWith("/") ? found.replace(/[^\n]/g, " ") : found))
    .replace(/^[ \t]+/gm, (indent) => " ".repeat(indent.length));
}
