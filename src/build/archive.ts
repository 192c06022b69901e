/** Makes the archive of a system. */
import type { PackedFile } from "./file.ts";
import type { System } from "./systems.ts";
import { archiveName, isWindows } from "./systems.ts";
import { tar } from "./tar.ts";
import { zip } from "./zip.ts";

/**
 * The same files and time give the same bytes.
 * @param binary the executable
 * @param others files beside it; their paths are below the one folder of the archive
 * @param seconds time of last change of each file, in seconds since 1970
 */
export function archive(
  system: System,
  binary: Uint8Array,
  others: readonly PackedFile[],
  seconds: number,
): Uint8Array<ArrayBuffer> {
  const folder = archiveName(system).replace(/\.(tar\.gz|zip)$/, "");
  const program = { path: isWindows(system) ? "weir.exe" : "weir", content: binary, isExecutable: true };
  const files = [program, ...others].map((file) => ({ ...file, path: `${folder}/${file.path}` }));
  if (isWindows(system)) return new Uint8Array(zip(files, seconds));
  const folders = foldersOf(files.map(({ path }) => path)).map((path) => ({ path }));
  return Bun.gzipSync(new Uint8Array(tar([...folders, ...files], seconds)), { level: 9 });
}

/** All folders that the paths lie in. */
function foldersOf(paths: readonly string[]): string[] {
  const parents = paths.flatMap((path) => {
    const names = path.split("/").slice(0, -1);
    return names.map((_, at) => names.slice(0, at + 1).join("/"));
  });
  return [...new Set(parents)];
}
