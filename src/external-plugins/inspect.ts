/**
 * Checks an external plugin file before any of it runs. A plugin has all rights of the gateway, so only the gateway's user and
 * root may be able to write the file or its folder.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import { basename, dirname } from "node:path";

const GROUP_WRITES = 0o020;
const EVERYONE_WRITES = 0o002;
/** In a sticky folder (`/tmp`), other users can add files but not replace existing ones. */
const STICKY = 0o1000;

/** @throws Error with a clause that states the folder's fault and the remedy */
export function checkFolder(dir: string): void {
  const stat = statSync(dir);
  const fault = ownerFault(stat) ?? writerFault(stat, basename(dir) || dir);
  if (fault !== undefined) throw new Error(`the folder ${fault}`);
}

/**
 * Accepts a regular file directly in the folder that no other user can write.
 * @returns the SHA-256 of its bytes, 64 lower-case hexadecimal digits
 * @throws Error with a clause that states the file's fault and the remedy
 */
export function checkFile(file: string, allowed: readonly string[]): string {
  if (lstatSync(file).isSymbolicLink() && dirname(realpathSync(file)) !== realpathSync(dirname(file)))
    throw new Error("is a symbolic link to a file outside the plugin folder; copy the file into it");
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
  return `belongs to user ${uid}, who is neither the user weir runs as (${own}) nor root; change its owner`;
}

function writerFault({ mode, uid, gid }: Stats, name: string): string | undefined {
  if (process.platform === "win32" || (mode & STICKY) !== 0) return undefined;
  if ((mode & EVERYONE_WRITES) !== 0) return `can be written by everyone; run chmod o-w ${name}`;
  // On systems where each user has a private group with the same id, group write access is the owner's own.
  const isPrivate = uid === gid && uid !== 0;
  if ((mode & GROUP_WRITES) !== 0 && !isPrivate) return `can be written by its group; run chmod g-w ${name}`;
  return undefined;
}
