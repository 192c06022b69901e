/** Replaces `${NAME}`, `${file:PATH}` and references to stores of secrets in texts of the config file. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describeFileError } from "../core/system-error.ts";
import { ConfigError, type Path } from "./error.ts";
import type { Reading } from "./references.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the values of references are read from. */
export interface Sources {
  environment: Environment;
  /** Folder that relative paths of secret files are relative to. */
  folder: string;
  /** Called with the absolute path of each secret file before it is read. */
  onSecret?: ((file: string) => void) | undefined;
  /** Takes references to secrets. Without it, values of files are read once, and there are no others. */
  reading?: Reading | undefined;
}

/** The option whose text is substituted, for messages. */
export interface Context {
  /** File and line. */
  at(): string;
  path: Path;
  /** Whether the option is a secret. Messages never contain its text. */
  secret: boolean;
}

const REFERENCE =
  /\$(\$\{)|\$\{(?:([a-z][a-z0-9-]*):(?!-)([^}]*)\}|(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?)/g;

/**
 * Replaces `${NAME}` with the variable's value, `${NAME:-text}` with `text` when the variable is unset or empty, and
 * `${file:PATH}` with the content of a file without its final line break. Other references become marks. `$${` is an escaped `${`.
 * @throws ConfigError that names the variable or the file, never its value.
 */
export function substitute(text: string, sources: Sources, { at, path, secret }: Context): string {
  const fail = (clause: string) => new ConfigError(at(), clause, path);
  return text.replace(
    REFERENCE,
    (_whole, escaped?: string, kind?: string, rest?: string, name?: string, fallback?: string) => {
      if (escaped !== undefined) return escaped;
      if (kind !== undefined) {
        const known = ["file", ...(sources.reading?.references.kinds ?? [])];
        if (!known.includes(kind))
          throw fail(`weir knows no reference \${${kind}:}, only \${NAME} and \${${known.join(":}, ${")}:}`);
        if (!secret)
          throw fail(`\${${kind}:} is allowed only for secrets: an apiKey, a gateway key or a header`);
        const { reading, folder } = sources;
        const value = kind === "file" ? readSecret(rest!, sources, fail) : undefined;
        if (!reading) return value!;
        if (rest!.trim() === "") throw fail(`\${${kind}: must be followed by the place of a secret and }`);
        const place = kind === "file" ? resolve(folder, rest!) : rest!.trim();
        return reading.mark({ name: `${kind}:${place}`, at: at(), path }, value);
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
  return readSecretFile(path, file, fail);
}

/**
 * The text of a file without its final line break.
 * @param path absolute @param file its name in messages
 */
export function readSecretFile(path: string, file: string, fail: (clause: string) => Error): string {
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
