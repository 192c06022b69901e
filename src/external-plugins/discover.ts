/**
 * External plugins: finds the files, checks them, runs the preflight and imports them. The same file works from source and in
 * the compiled binary because `"weir"` is served as a virtual module.
 */
import { readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isObject } from "../core/json.ts";
import type { Plugin } from "../core/plugin.ts";
import { describeFileError, systemCode } from "../core/system-error.ts";
import { didYouMean } from "../core/suggest.ts";
import { withoutKeys } from "../core/error-text.ts";
import { within } from "../core/within.ts";
import type { LoadedPlugin } from "../gateway/routing/registry.ts";
import { declarationFault, mayDecide } from "./declaration.ts";
import { unflatten } from "./flat-codecs.ts";
import { forgetModule, importedFiles } from "./imports.ts";
import { checkFile, checkFolder } from "./inspect.ts";
import { preflight } from "./preflight.ts";
import { exportNames, registerWeir } from "./virtual.ts";

/** A file that could not be loaded, and one sentence with the reason and the remedy. */
export interface BrokenPlugin {
  file: string;
  message: string;
  /** It may have hooks that decide about calls; a file that cannot be imported may have any. */
  mayDecide: boolean;
}

export interface Discovered {
  plugins: LoadedPlugin[];
  broken: BrokenPlugin[];
}

export interface DiscoverOptions {
  dir: string;
  /** SHA-256 digests of the files that may be loaded; empty: all files. */
  allow: readonly string[];
  /** Maximum time to import a plugin. Milliseconds. */
  loadMs: number;
  /** Names of files to skip. */
  except?: ReadonlySet<string>;
}

/**
 * Loads the `.ts` and `.js` files directly in `dir`, in alphabetical order. A missing folder contains none. Files whose names
 * begin with `_`, and files in subfolders, are not plugins, but plugins may import them.
 * @throws Error with one sentence if the folder exists and cannot be read
 */
export async function loadPlugins(options: DiscoverOptions): Promise<Discovered> {
  const found: Discovered = { plugins: [], broken: [] };
  const blame = (file: string, cause: unknown) =>
    void found.broken.push({
      file,
      message: sentence(cause, file),
      mayDecide: !(cause instanceof DeclarationFault) || mayDecide(cause.exported),
    });
  const files = pluginFiles(options.dir).filter((file) => !options.except?.has(basename(file)));
  if (files.length === 0) return found;
  const inspected = inspect(files, options, blame);
  registerWeir();
  const faults = await preflight([...inspected.keys()], options.loadMs);
  for (const [file, { sha256, version }] of inspected) {
    const fault = faults.get(file);
    try {
      if (fault !== undefined) throw new Error(fault);
      found.plugins.push({ ...(await importPlugin(file, version, options.loadMs)), source: file, sha256 });
    } catch (cause) {
      blame(file, cause);
    }
  }
  return found;
}

interface Inspected {
  sha256: string;
  /** Changes when the file, or a file that it imports, has changed. */
  version: string;
}

/** The files that pass all checks. */
function inspect(
  files: readonly string[],
  { dir, allow }: DiscoverOptions,
  blame: (file: string, cause: unknown) => void,
): Map<string, Inspected> {
  const inspected = new Map<string, Inspected>();
  for (const file of files) {
    try {
      checkFolder(dir);
      const sha256 = checkFile(file, allow);
      inspected.set(file, { sha256, version: [sha256, ...checkImports(file, allow)].join("-") });
    } catch (cause) {
      blame(file, cause);
    }
  }
  return inspected;
}

/** The last known digests of the imported files, by path. */
const seen = new Map<string, string>();

/**
 * @returns a short digest of each file that is imported by a relative path
 * @throws Error with a clause, as {@link checkFile}
 */
function checkImports(file: string, allow: readonly string[]): string[] {
  const digests = new Map(
    importedFiles(file).map((imported) => [imported, checkImport(file, imported, allow)]),
  );
  const changed = [...digests].some(([imported, sha256]) => seen.get(imported) !== sha256);
  for (const [imported, sha256] of digests) {
    // Unchanged files too: they may import a file that has changed.
    if (changed) forgetModule(imported);
    seen.set(imported, sha256);
  }
  return [...digests.values()].map((sha256) => sha256.slice(0, 16));
}

function checkImport(file: string, imported: string, allow: readonly string[]): string {
  try {
    checkFolder(dirname(imported));
    return checkFile(imported, allow);
  } catch (cause) {
    throw new Error(`imports ${relative(dirname(file), imported)}: ${describe(cause)}`);
  }
}

function pluginFiles(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => /^[^._].*\.(ts|js|mjs)$/.test(name) && !name.endsWith(".d.ts"))
      .sort()
      .map((name) => join(dir, name));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw new Error(`the plugin folder ${dir} cannot be read (${describeFileError(error)})`);
  }
}

/** The runtime caches modules by path and query, so a new version needs a new query. */
async function importPlugin(
  file: string,
  version: string,
  loadMs: number,
): Promise<Pick<LoadedPlugin, "plugin" | "notices">> {
  const imported = (await within(import(`${file}?${version}`), loadMs, () => unfinished(loadMs))) as {
    default?: unknown;
  };
  const { exported, notices } = unflatten(imported.default);
  const fault = declarationFault(exported);
  if (fault !== undefined) throw new DeclarationFault(fault, imported.default);
  return { plugin: exported as Plugin, notices };
}

/** The default export of a file is no valid plugin. */
class DeclarationFault extends Error {
  readonly exported: unknown;

  constructor(clause: string, exported: unknown) {
    super(clause);
    this.exported = exported;
  }
}

function unfinished(loadMs: number): Error {
  return new Error(`did not finish loading within ${loadMs / 1000} s; its top-level code awaits something`);
}

/** `file:line:column: what`. Bun's build errors contain a position. */
function sentence(cause: unknown, file: string): string {
  const first = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
  const position = positionOf(first, file);
  const what = withoutKeys(describe(first).split("\n")[0]!);
  return `${file}${position}: ${what}${misspelt(what)}`;
}

/** How Bun names an export that `weir` does not have, from source and in the compiled binary. */
const NO_EXPORT = /^(?:Export named '(\w+)' not found in module 'weir'|No matching export .*"(\w+)")/;

function misspelt(what: string): string {
  const found = NO_EXPORT.exec(what);
  const name = found?.[1] ?? found?.[2];
  return name === undefined ? "" : didYouMean(name, exportNames()).replace(/^,/, ";");
}

function describe(cause: unknown): string {
  const hasMessage = cause instanceof Error || isObject(cause);
  return String(hasMessage ? (cause as { message?: unknown }).message : cause);
}

function positionOf(cause: unknown, file: string): string {
  const position = (cause as { position?: { line?: number; column?: number } | null } | null)?.position;
  if (position?.line) return `:${position.line}:${position.column ?? 1}`;
  const stack = cause instanceof Error ? (cause.stack ?? "") : "";
  const at = stack.indexOf(`${file}:`);
  return at < 0 ? "" : (/^:\d+(:\d+)?/.exec(stack.slice(at + file.length))?.[0] ?? "");
}
