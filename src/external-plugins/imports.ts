/**
 * The files that a plugin imports by relative path. They run with the plugin, so the same rules apply to them. The runtime
 * caches modules by path, so a changed file must be removed from the cache before the plugin is imported again.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

const LOADERS = ["ts", "js", "tsx", "jsx"] as const;

/** All files that a plugin imports by relative path, directly or indirectly, without the plugin itself. Absolute paths. */
export function importedFiles(file: string): string[] {
  const found = new Set<string>([file]);
  // The loop also visits files that are added while it runs.
  for (const each of found) for (const next of directImports(each)) found.add(next);
  found.delete(file);
  return [...found];
}

/** Skips files that cannot be read, parsed or found: the import of such a file fails with a reason. */
function directImports(file: string): string[] {
  const [, kind] = /\.[cm]?(ts|js|tsx|jsx)$/.exec(file) ?? [];
  const loader = LOADERS.find((candidate) => candidate === kind);
  if (loader === undefined) return [];
  const imports = attempt(() => new Bun.Transpiler({ loader }).scanImports(readFileSync(file))) ?? [];
  return imports
    .filter(({ path }) => /^\.{0,2}\//.test(path))
    .flatMap(({ path }) => attempt(() => Bun.resolveSync(path.replace(/\?.*$/, ""), dirname(file))) ?? []);
}

function attempt<Value>(get: () => Value): Value | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}

/** Removes a file from the module cache, so that the next import reads it again. */
export function forgetModule(file: string): void {
  delete require.cache[file];
}
