/**
 * What is checked of a dropped file before any of it runs. A plugin has all the rights of the gateway, so whoever can
 * write the file, or the folder it lies in, is the gateway: nobody but its owner and root may be able to.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { basename, dirname } from "node:path";

const GROUP_WRITES = 0o020;
const EVERYONE_WRITES = 0o002;
/** Others may add files to such a folder, but not replace those of someone else (`/tmp`). */
const STICKY = 0o1000;

/** @throws Error whose message is a clause about the folder, with what to do. */
export function checkFolder(dir: string): void {
  const stat = statSync(dir);
  const fault = ownerFault(stat) ?? writerFault(stat, basename(dir) || dir);
  if (fault !== undefined) throw new Error(`the folder ${fault}`);
}

/**
 * A real file directly in the folder, that nobody else can write.
 * @returns the SHA-256 of its bytes, 64 lower-case hexadecimal digits.
 * @throws Error whose message is a clause about the file, with what to do.
 */
export function checkFile(file: string, allowed: readonly string[]): string {
  if (lstatSync(file).isSymbolicLink() && dirname(realpathSync(file)) !== realpathSync(dirname(file)))
    throw new Error("is a link that leads out of the plugin folder; copy the file into it");
  const stat = statSync(file);
  if (!stat.isFile()) throw new Error("is not a regular file");
  const fault = ownerFault(stat) ?? writerFault(stat, basename(file));
  if (fault !== undefined) throw new Error(fault);
  const digest = new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex");
  if (allowed.length > 0 && !allowed.includes(digest))
    throw new Error(`is not one of plugins.allow; its SHA-256 is ${digest}`);
  return digest;
}

function ownerFault({ uid }: Stats): string | undefined {
  const own = process.geteuid?.();
  if (own === undefined || uid === 0 || uid === own) return undefined;
  return `belongs to the user ${uid}, who is neither the one weir runs as (${own}) nor root; change its owner`;
}

function writerFault({ mode, uid, gid }: Stats, name: string): string | undefined {
  if (process.platform === "win32" || (mode & STICKY) !== 0) return undefined;
  if ((mode & EVERYONE_WRITES) !== 0) return `can be written by everyone; run chmod o-w ${name}`;
  // Where users have a group of their own, with their own number, files are theirs alone all the same.
  const isPrivate = uid === gid && uid !== 0;
  if ((mode & GROUP_WRITES) !== 0 && !isPrivate) return `can be written by its group; run chmod g-w ${name}`;
  return undefined;
}
