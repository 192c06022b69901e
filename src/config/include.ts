/** `include`: the files that a config file names, each read and checked by itself, with their values in one document. */
import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import type { Sliced } from "../core/slices.ts";
import { describeFileError } from "../core/system-error.ts";
import type { ConfigDocument } from "./document.ts";
import { ConfigError, type Fault } from "./error.ts";
import { mergeFiles, type MergedDocument } from "./merge.ts";
import { substituteAll } from "./read.ts";
import type { Reading } from "./references.ts";
import { findFaults, memberOf, throwFirst } from "./shape.ts";
import type { Environment } from "./substitute.ts";
import type { WatchedFiles } from "./watched.ts";

/** Most files of one config. */
const MAX_FILES = 1_000;
/** Most files between the config file and one that it leads to. */
const MAX_DEPTH = 10;

/** The config file with all that it includes. */
export interface FoundDocument extends MergedDocument {
  /** Folder of the config file. */
  folder: string;
}

export interface ReadOptions {
  env: Environment;
  /** Absolute path of the working directory: names in messages are relative to it. */
  cwd: string;
  /** Schema of a config file. */
  schema: TSchema;
  /** Called with the name of each file before it is read, so also with that of a broken one. */
  onFile?: ((name: string) => void) | undefined;
  /** Takes the files before they are read, those of secrets too. */
  watched?: WatchedFiles | undefined;
  /** Takes references to secrets. */
  reading?: Reading | undefined;
}

/**
 * Reads a config file and what it includes: the file first, then what it names, in the order of its list.
 * @param file absolute path
 * @throws ConfigError for the first mistake in a file, and for an option that two files set
 */
export function* readFiles(file: string, options: ReadOptions): Sliced<FoundDocument> {
  const reader = new Reader(options);
  yield* reader.read({ file, real: realPath(file) ?? file, chain: [] });
  return { ...mergeFiles(reader.documents, options.schema), folder: dirname(file) };
}

interface Wanted {
  file: string;
  /** The path without symbolic links. */
  real: string;
  /** Paths without symbolic links of the files that led to this one. */
  chain: readonly string[];
  /** Makes the error of a file that cannot be read. */
  fail?: Fail;
}

type Fail = (clause: string) => ConfigError;

class Reader {
  readonly documents: ConfigDocument[] = [];
  readonly #options: ReadOptions;
  /** Where each file is included, by its path without symbolic links. */
  readonly #places = new Map<string, string>();

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  *read({ file, real, chain, fail }: Wanted): Sliced<void> {
    const name = this.#nameOf(file);
    this.#options.onFile?.(name);
    this.#options.watched?.add(file);
    // A start without a config file does not load the YAML parser. Reading is synchronous, so an import would be too late.
    const { readDocument } = require("./document.ts") as typeof import("./document.ts");
    const document = yield* readDocument(file, name, fail);
    const value = yield* check(document, this.#options, dirname(file));
    // The paths of the first file stay as written: an option of it is named in messages as its author knows it.
    const placed = chain.length === 0 ? value : placePaths(value, this.#options.schema, dirname(file));
    this.documents.push({ ...document, value: placed as Record<string, unknown> });
    const included = (value["include"] ?? []) as readonly string[];
    for (const [index, entry] of included.entries()) {
      const path = ["include", index];
      const at = document.locate(path);
      const deny: Fail = (clause) => new ConfigError(at, clause, path);
      yield* this.#include(entry, { folder: dirname(file), chain: [...chain, real], at, deny });
    }
  }

  *#include(
    entry: string,
    { folder, chain, at, deny }: { folder: string; chain: readonly string[]; at: string; deny: Fail },
  ): Sliced<void> {
    const isPattern = entry.includes("*");
    if (isPattern) this.#options.watched?.addPattern(resolve(folder, entry), () => found(entry, folder));
    for (const file of isPattern ? matching(entry, folder, deny) : [plainPath(entry, folder, deny)]) {
      const fail: Fail = (clause) => deny(`the file ${this.#nameOf(file)} ${clause}`);
      const real = realPath(file, fail);
      if (chain.includes(real) || this.#places.has(real)) {
        // A pattern stands for the files that are not yet part of the config.
        if (isPattern) continue;
        if (chain.includes(real))
          throw fail("leads to this entry itself, so including it here would never end");
        throw fail(`is already included at ${this.#places.get(real)}`);
      }
      if (chain.length > MAX_DEPTH)
        throw fail(
          `is included by ${chain.length} files, one in the other; at most ${MAX_DEPTH} are allowed`,
        );
      if (this.#places.size >= MAX_FILES)
        throw deny(`a config consists of at most ${MAX_FILES} included files`);
      this.#places.set(real, at);
      yield* this.read({ file, real, chain, fail });
    }
  }

  #nameOf(file: string): string {
    const near = relative(this.#options.cwd, file);
    return near.startsWith("..") || isAbsolute(near) ? file : near;
  }
}

/** The file's value with references replaced, after the checks that need no other file. */
function* check(
  { value, locate }: ConfigDocument,
  { env: environment, schema, watched, reading }: ReadOptions,
  folder: string,
): Sliced<Record<string, unknown>> {
  const onSecret = watched && ((file: string) => watched.add(file));
  const sources = { environment, folder, onSecret, reading };
  const replaced = substituteAll(value, schema, sources, locate) as Record<string, unknown>;
  yield;
  throwFirst(reading ? openFaults(schema, replaced, reading) : findFaults(schema, replaced), locate);
  yield;
  return replaced;
}

/** Faults of a value with references: what they stand for is checked, as far as it is known. */
export function openFaults(
  schema: TSchema,
  written: unknown,
  { uses, references }: Pick<Reading, "uses" | "references">,
): Fault[] {
  if (uses.length === 0) return findFaults(schema, written);
  return references.known(findFaults(schema, references.expandAll(written)), written);
}

function plainPath(entry: string, folder: string, deny: Fail): string {
  if (entry.trim() === "") throw deny("the path of an included file is empty");
  return resolve(folder, entry);
}

/** The files that a pattern matches, in the order of their paths. `*` is part of a name, `**` any folders. */
function matching(pattern: string, folder: string, deny: Fail): string[] {
  const files = found(pattern, folder);
  if (files.length === 0) throw deny(`no file matches ${pattern}; create one, or remove the entry`);
  return files;
}

function found(pattern: string, folder: string): string[] {
  const glob = new Bun.Glob(pattern.replace(/[?[\]{}!\\]/g, "\\$&"));
  // Files that a container gets from a config map are symbolic links, which `onlyFiles` would leave out.
  return [...glob.scanSync({ cwd: folder, onlyFiles: false, followSymlinks: true })]
    .map((name) => resolve(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true)
    .sort();
}

/** The path without symbolic links. @throws what `fail` makes if the file cannot be found; without `fail` undefined */
function realPath(file: string, fail: Fail): string;
function realPath(file: string): string | undefined;
function realPath(file: string, fail?: Fail): string | undefined {
  try {
    return realpathSync(file);
  } catch (error) {
    if (fail) throw fail(`cannot be read (${describeFileError(error)})`);
    return undefined;
  }
}

/** A copy in which relative paths begin at the folder of their file. */
function placePaths(value: unknown, schema: TSchema | undefined, folder: string): unknown {
  if (schema === undefined) return value;
  if (typeof value === "string") {
    const isPath = schema["x-path"] === true && value !== "" && value !== schema["x-no-path"];
    return isPath ? resolve(folder, value) : value;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, placePaths(inner, memberOf(schema, name), folder)]),
  );
}
