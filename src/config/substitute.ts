/** `${NAME}` and `${file:PATH}` inside texts of the config file. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describeFileError } from "../core/system-error.ts";
import { ConfigError, type Path } from "./error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the values of references come from. */
export interface Sources {
  environment: Environment;
  /** Folder that relative paths of secret files begin at. */
  folder: string;
}

/** The text with the references, as messages need to know it. */
export interface Place {
  /** File and line, for messages. */
  at(): string;
  path: Path;
  /** Whether the option is a secret, which no message repeats. */
  secret: boolean;
}

const REFERENCE = /\$(\$\{)|\$\{(?:file:(?!-)([^}]*)\}|(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?)/g;

/**
 * Replaces `${NAME}` with the variable's value, `${NAME:-text}` with `text` when it is not set or empty, and
 * `${file:PATH}` with the content of a file but for a line end behind it. `$${` is a plain `${`.
 * @throws ConfigError that names the variable or the file, never its value.
 */
export function substitute(text: string, sources: Sources, { at, path, secret }: Place): string {
  const fail = (clause: string) => new ConfigError(at(), clause, path);
  return text.replace(
    REFERENCE,
    (_whole, escaped?: string, file?: string, name?: string, fallback?: string) => {
      if (escaped !== undefined) return escaped;
      if (file !== undefined) {
        if (!secret) throw fail("only a secret can come from a file: an apiKey, a gateway key or a header");
        return readSecret(file, sources.folder, fail);
      }
      if (name === undefined) throw fail("${ must be followed by the name of a variable and }");
      const value = sources.environment[name];
      if (value !== undefined && (value !== "" || fallback === undefined)) return value;
      if (fallback !== undefined) return fallback;
      throw fail(`the environment variable ${name} is not set`);
    },
  );
}

function readSecret(file: string, folder: string, fail: (clause: string) => ConfigError): string {
  if (file === "") throw fail("${file: must be followed by the path of a file and }");
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(resolve(folder, file));
  } catch (error) {
    throw fail(`the secret file ${file} cannot be read (${describeFileError(error)})`);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw fail(`the secret file ${file} is not UTF-8 text`);
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "") throw fail(`the secret file ${file} is empty`);
  return secret;
}
