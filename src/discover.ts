/**
 * Dropped plugins: finds the files, checks them before use, imports them. The same text works from source and in the
 * compiled binary because `"weir"` is served as a virtual module (runtime 2.4).
 */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject } from "./core/json.ts";
import type { Plugin } from "./core/plugin.ts";
import type { LoadedPlugin } from "./gateway/registry.ts";
import * as publicFace from "./plugin.ts";

/** A file that could not be used, and one sentence that says why and what to do. */
export interface BrokenPlugin {
  file: string;
  message: string;
}

export interface Discovered {
  plugins: LoadedPlugin[];
  broken: BrokenPlugin[];
}

/** Longest time a plugin's top level may take. Milliseconds. */
const IMPORT_MS = 5000;

let registered = false;

/** Makes `import … from "weir"` work for files outside of the bundle. */
function registerWeir(): void {
  if (registered) return;
  registered = true;
  Bun.plugin({
    name: "weir",
    setup(build) {
      build.module("weir", () => ({ exports: { ...publicFace }, loader: "object" }));
    },
  });
}

/**
 * Loads the `.ts` and `.js` files directly in `dir`, in the order of their names. A missing folder holds none.
 * @param except names of files to leave out.
 */
export async function loadPlugins(dir: string, except: ReadonlySet<string> = new Set()): Promise<Discovered> {
  registerWeir();
  const found: Discovered = { plugins: [], broken: [] };
  for (const file of pluginFiles(dir)) {
    if (except.has(basename(file))) continue;
    try {
      checkFile(file);
      found.plugins.push({ plugin: await importPlugin(file), source: file });
    } catch (cause) {
      found.broken.push({ file, message: sentence(cause, file) });
    }
  }
  return found;
}

function pluginFiles(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => /\.(ts|js|mjs)$/.test(name) && !name.endsWith(".d.ts") && !name.startsWith("."))
      .sort()
      .map((name) => join(dir, name));
  } catch {
    return [];
  }
}

/** A plugin runs with all the rights of the gateway: only a real file that nobody else can write is loaded. */
function checkFile(file: string): void {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink() && dirname(realpathSync(file)) !== realpathSync(dirname(file)))
    throw new Error("is a link that leads out of the plugin folder; copy the file into it");
  if (!stat.isFile() && !stat.isSymbolicLink()) throw new Error("is not a regular file");
  if (process.platform !== "win32" && (stat.mode & 0o002) !== 0 && !stat.isSymbolicLink())
    throw new Error(`can be written by everyone; run chmod o-w ${basename(file)}`);
}

async function importPlugin(file: string): Promise<Plugin> {
  const imported = (await withTimeout(import(file))) as { default?: unknown };
  const plugin = imported.default;
  if (!isObject(plugin)) throw new Error("has no default export; write `export default definePlugin({ … })`");
  const { name, providers, formats, hooks } = plugin as Record<string, unknown>;
  if (typeof name !== "string" || name === "") throw new Error("its default export has no name");
  for (const [member, value] of Object.entries({ providers, formats }))
    if (value !== undefined && !Array.isArray(value)) throw new Error(`its ${member} must be a list`);
  if (hooks !== undefined && !isObject(hooks)) throw new Error("its hooks must be an object of functions");
  return plugin as unknown as Plugin;
}

async function withTimeout<Value>(pending: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(
        new Error(`did not finish loading within ${IMPORT_MS / 1000} s; its top level waits for something`),
      ),
    IMPORT_MS,
  );
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
  return `${file}${position}: ${text.split("\n")[0]}`;
}

function positionOf(cause: unknown, file: string): string {
  const position = (cause as { position?: { line?: number; column?: number } | null } | null)?.position;
  if (position?.line) return `:${position.line}:${position.column ?? 1}`;
  const stack = cause instanceof Error ? (cause.stack ?? "") : "";
  const at = stack.indexOf(`${file}:`);
  return at < 0 ? "" : (/^:\d+(:\d+)?/.exec(stack.slice(at + file.length))?.[0] ?? "");
}
