/**
 * Dropped plugins: finds the files, checks and rehearses them, imports them. The same text works from source and in the
 * compiled binary because `"weir"` is served as a virtual module.
 */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { isObject } from "../core/json.ts";
import type { Plugin } from "../core/plugin.ts";
import { describeFileError, systemCode } from "../core/system-error.ts";
import { withoutKeys } from "../core/thrown.ts";
import type { LoadedPlugin } from "../gateway/registry.ts";
import { declarationFault } from "./declaration.ts";
import { checkFile, checkFolder } from "./inspect.ts";
import { rehearse } from "./rehearse.ts";
import { registerWeir } from "./virtual.ts";

/** A file that could not be used, and one sentence that says why and what to do. */
export interface BrokenPlugin {
  file: string;
  message: string;
}

export interface Discovered {
  plugins: LoadedPlugin[];
  broken: BrokenPlugin[];
}

export interface DiscoverOptions {
  dir: string;
  /** SHA-256 digests; with any, only files that have one of them are loaded. */
  allow: readonly string[];
  /** Longest time a plugin's top level may take. Milliseconds. */
  loadMs: number;
  /** Names of files to leave out. */
  except?: ReadonlySet<string>;
}

/**
 * Loads the `.ts` and `.js` files directly in `dir`, in the order of their names. A missing folder holds none.
 * @throws Error with one sentence when the folder exists and cannot be read.
 */
export async function loadPlugins(options: DiscoverOptions): Promise<Discovered> {
  const found: Discovered = { plugins: [], broken: [] };
  const blame = (file: string, cause: unknown) =>
    void found.broken.push({ file, message: sentence(cause, file) });
  const files = pluginFiles(options.dir).filter((file) => !options.except?.has(basename(file)));
  if (files.length === 0) return found;
  const digests = inspect(files, options, blame);
  registerWeir();
  const faults = await rehearse([...digests.keys()], options.loadMs);
  for (const [file, sha256] of digests) {
    const fault = faults.get(file);
    try {
      if (fault !== undefined) throw new Error(fault);
      found.plugins.push({ plugin: await importPlugin(file, sha256, options.loadMs), source: file, sha256 });
    } catch (cause) {
      blame(file, cause);
    }
  }
  return found;
}

/** The files that may be run, each with its digest. */
function inspect(
  files: readonly string[],
  { dir, allow }: DiscoverOptions,
  blame: (file: string, cause: unknown) => void,
): Map<string, string> {
  const digests = new Map<string, string>();
  for (const file of files) {
    try {
      checkFolder(dir);
      digests.set(file, checkFile(file, allow));
    } catch (cause) {
      blame(file, cause);
    }
  }
  return digests;
}

function pluginFiles(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => /\.(ts|js|mjs)$/.test(name) && !name.endsWith(".d.ts") && !name.startsWith("."))
      .sort()
      .map((name) => join(dir, name));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw new Error(`the plugin folder ${dir} cannot be read (${describeFileError(error)})`);
  }
}

/** A file whose text has changed since it was last imported is another module. */
async function importPlugin(file: string, sha256: string, loadMs: number): Promise<Plugin> {
  const imported = (await withTimeout(import(`${file}?${sha256}`), loadMs)) as { default?: unknown };
  const fault = declarationFault(imported.default);
  if (fault !== undefined) throw new Error(fault);
  return imported.default as Plugin;
}

async function withTimeout<Value>(pending: Promise<Value>, loadMs: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () =>
    reject(new Error(`did not finish loading within ${loadMs / 1000} s; its top level waits for something`));
  const timer = setTimeout(giveUp, loadMs);
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `file:line:column: what`; Bun's build errors carry a position. */
function sentence(cause: unknown, file: string): string {
  const first = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
  const text =
    first instanceof Error || isObject(first)
      ? String((first as { message?: unknown }).message)
      : String(first);
  const position = positionOf(first, file);
  return `${file}${position}: ${withoutKeys(text.split("\n")[0]!)}`;
}

function positionOf(cause: unknown, file: string): string {
  const position = (cause as { position?: { line?: number; column?: number } | null } | null)?.position;
  if (position?.line) return `:${position.line}:${position.column ?? 1}`;
  const stack = cause instanceof Error ? (cause.stack ?? "") : "";
  const at = stack.indexOf(`${file}:`);
  return at < 0 ? "" : (/^:\d+(:\d+)?/.exec(stack.slice(at + file.length))?.[0] ?? "");
}
