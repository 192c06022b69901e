/** Replaces `${NAME}` and `${file:PATH}` references in texts of the config file. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describeFileError } from "../core/system-error.ts";
import { ConfigError, type Path } from "./error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the values of references are read from. */
export interface Sources {
  environment: Environment;
  /** Folder that relative paths of secret files are relative to. */
  folder: string;
  /** Called with the absolute path of each secret file before it is read. */
  onSecret?: ((file: string) => void) | undefined;
}

/** The option whose text is substituted, for messages. */
export interface Context {
  /** File and line. */
  at(): string;
  path: Path;
  /** Whether the option is a secret. Messages never contain its text. */
  secret: boolean;
}

const REFERENCE = /\$(\$\{)|\$\{(?:file:(?!-)([^}]*)\}|(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?)/g;

/**
 * Replaces `${NAME}` with the variable's value, `${NAME:-text}` with `text` when the variable is unset or empty, and
 * `${file:PATH}` with the content of a file without its final line break. `$${` is an escaped `${`.
 * @throws ConfigError that names the variable or the file, never its value.
 */
export function substitute(text: string, sources: Sources, { at, path, secret }: Context): string {
  const fail = (clause: string) => new ConfigError(at(), clause, path);
  return text.replace(
    REFERENCE,
    (_whole, escaped?: string, file?: string, name?: string, fallback?: string) => {
      if (escaped !== undefined) return escaped;
      if (file !== undefined) {
        if (!secret) throw fail("${file:} is allowed only for secrets: an apiKey, a gateway key or a header");
        return readSecret(file, sources, fail);
      }
      if (name === undefined) throw fail("${ must be followed by a variable name and }");
      const value = sources.environment[name];
      if (value !== undefined && (value !== "" || fallback === undefined)) return value;
      if (fallback !== undefined) return fallback;
      throw fail(`the environment variable ${name} is not set`);
    },
  );
}

function readSecret(
  file: string,
  { folder, onSecret }: Sources,
  fail: (clause: string) => ConfigError,
): string {
  if (file === "") throw fail("${file: must be followed by a file path and }");
  const path = resolve(folder, file);
  onSecret?.(path);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
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
