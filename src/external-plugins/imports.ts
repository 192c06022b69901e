/**
 * The files a plugin imports by a relative path. They run with the plugin, so they are held to the same rules; and the
 * runtime keeps a module by its path, so a changed one has to be forgotten before the plugin is imported again.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

const LOADERS = ["ts", "js", "tsx", "jsx"] as const;

/** Every file that a plugin imports by a relative path, itself left out, also through others. Absolute paths. */
export function importedFiles(file: string): string[] {
  const found = new Set<string>([file]);
  // The set grows while it is walked.
  for (const each of found) for (const next of directImports(each)) found.add(next);
  found.delete(file);
  return [...found];
}

/** What cannot be read, parsed or found is left out: its import fails and says why. */
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

/** Has the runtime read a file anew at the next import. */
export function forgetModule(file: string): void {
  delete require.cache[file];
}
