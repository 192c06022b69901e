/**
 * The files of the certificate that weir makes for itself. Its processes share them; all sign with the one key, so a
 * certificate that another process has renewed fits the key that this one has read.
 */
import { X509Certificate } from "node:crypto";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describeFileError, systemCode } from "../../core/system-error.ts";
import type { TlsFiles } from "../../config/tls.ts";
import type { Config } from "../../config/schema.ts";
import type { StateHome } from "../../run/home.ts";
import { addressBytes, createKey, signOwn } from "./certificate.ts";
import { isIP } from "node:net";

const DAY_MS = 86_400_000;
/** weir renews a certificate that expires within this time. */
const RENEW_DAYS = 30;

/** The names that every certificate has: this machine, as its own programs address it. */
const LOCAL = ["localhost", "127.0.0.1", "::1"];

/**
 * The files, made or renewed where that is due.
 * @param names as {@link namesOf} returns them
 * @param now milliseconds since 1970
 * @throws Error with one sentence if the folder cannot be used
 */
export async function ownCertificate(
  home: StateHome,
  names: readonly string[],
  now = Date.now(),
): Promise<TlsFiles> {
  const folder = folderOf(home);
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    assertOwn(folder);
    if (readIfThere(files.key) === undefined) place(files.key, await createKey());
    // Also where a backup or a copy has opened it to others.
    chmodSync(files.key, 0o600);
    if (isDue(readIfThere(files.cert), readFileSync(files.key, "utf8"), names, now))
      replace(files.cert, await signOwn(readFileSync(files.key, "utf8"), names, now));
  } catch (cause) {
    const reason = cause instanceof Foreign ? cause.message : describeFileError(cause);
    throw new Error(`weir cannot keep a certificate of its own in ${folder} (${reason})`, { cause });
  }
  return files;
}

/** The names of the certificate: this machine's, and those by which clients reach weir. */
export function namesOf({ host, names }: Pick<Config, "host" | "names">): string[] {
  const others = [hostname(), host, ...names].map((name) => name.toLowerCase());
  return [...new Set([...LOCAL, ...others.filter((name) => isName(name) && !isEvery(name))])];
}

/** Whether a certificate must be made anew. @param cert PEM; undefined: there is none */
export function isDue(cert: string | undefined, key: string, names: readonly string[], now: number): boolean {
  if (cert === undefined) return true;
  try {
    const known = new X509Certificate(cert);
    const { createPrivateKey } = process.getBuiltinModule("node:crypto");
    if (!known.checkPrivateKey(createPrivateKey(key))) return true;
    if (Date.parse(known.validTo) - now < RENEW_DAYS * DAY_MS) return true;
    if (Date.parse(known.validFrom) > now) return true;
    return !names.every((name) => (isIP(name) ? known.checkIP(name) : known.checkHost(name)));
  } catch {
    return true;
  }
}

/** Without a state folder the files are in a temporary one: clients need the certificate as a file. */
function folderOf(home: StateHome): string {
  if (home.kind === "folder") return join(home.folder, "tls");
  return join(tmpdir(), `weir-tls-${process.getuid?.() ?? "user"}`);
}

class Foreign extends Error {}

/** Any user may create a folder of this name in the temporary folder, and would get the key. */
function assertOwn(folder: string): void {
  const found = lstatSync(folder);
  const user = process.getuid?.() ?? found.uid;
  if (!found.isDirectory()) throw new Foreign("it is not a folder");
  if (found.uid !== user) throw new Foreign("it belongs to another user");
  if (process.platform !== "win32") chmodSync(folder, 0o700);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a file that is not there yet; the one of another process stays. */
function place(path: string, content: string): void {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, content, { mode: 0o600 });
  try {
    linkSync(fresh, path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** No reader sees a part of the file. */
function replace(path: string, content: string): void {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, content, { mode: 0o644 });
  renameSync(fresh, path);
}

/** An address that stands for all of the machine. */
function isEvery(name: string): boolean {
  return isIP(name) !== 0 && addressBytes(name).every((byte) => byte === 0);
}

/** A name that a certificate can hold. The zone of a link-local address means nothing to others. */
function isName(name: string): boolean {
  return name.includes(":") ? isIP(name) !== 0 && !name.includes("%") : /^[a-z0-9*._-]{1,253}$/.test(name);
}
