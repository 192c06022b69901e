/** Paths of the sockets of a gateway's processes. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StateHome } from "../run/home.ts";
import { beginningOf, runFolder } from "../run/run-file.ts";

/** The keeper, and processes of features by the names of their features. */
export type SocketName = "keeper" | `service-${string}`;

/** A state folder may hold sockets of other programs. */
const OWN = /^(?:keeper|service-[a-z0-9-]+)-(\d+)\.sock$/;

/** Writable in containers whose disk is not. */
const SHARED_MEMORY = "/dev/shm";
/** Most bytes of a socket's path that every system accepts. */
const MAX_PATH = 100;

/**
 * Path of the socket of a process that this one owns.
 * @param name name of the process
 * @throws Error with one sentence when there is no folder for it
 */
export function socketPath(
  name: SocketName,
  home: StateHome,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const file = `${name}-${process.pid}.sock`;
  const folders = [runFolder(env), home.kind === "folder" ? home.folder : undefined];
  for (const folder of folders) {
    if (folder === undefined) continue;
    removeStale(folder);
    if (Buffer.byteLength(join(folder, file)) <= MAX_PATH) return join(folder, file);
  }
  for (const folder of [tmpdir(), SHARED_MEMORY])
    try {
      return join(mkdtempSync(join(folder, "weir-")), file);
    } catch {
      // The next one may be writable.
    }
  throw new Error(
    `no folder for the socket of the ${name} is writable; set TMPDIR${name === "keeper" ? " or --workers 1" : ""}`,
  );
}

/** Removes the sockets of gateways that were killed. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = OWN.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    beginningOf(pid);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}
