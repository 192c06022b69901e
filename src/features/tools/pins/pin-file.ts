/** The file in which operators keep approved pins for review: hashes by the names of tools, by the names of servers. */
import { readFileSync } from "node:fs";
import { chmod, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { isObject, parseJson } from "../../../core/json.ts";
import { describeFileError, systemCode } from "../../../core/system-error.ts";
import type { ApprovedPins, ServerPins } from "./compare.ts";
import { visibleName } from "./visible.ts";

const HASH = /^[0-9a-f]{64}$/;

/** @returns no pins where there is no file: nothing is approved @throws Error with a clause for a file of something else */
export function readPinFile(path: string): ApprovedPins {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return {};
    throw new Error(`${path} cannot be read (${describeFileError(cause)})`);
  }
  return pinsInText(path, text);
}

function pinsInText(path: string, text: string): ApprovedPins {
  const value = parseJson(text);
  if (!isObject(value)) throw new Error(`${path} has no JSON object`);
  for (const [server, pins] of Object.entries(value)) {
    if (!isObject(pins)) throw new Error(`${path} has no tools of ${visibleName(server)}`);
    for (const [tool, hash] of Object.entries(pins))
      if (typeof hash !== "string" || !HASH.test(hash))
        throw new Error(`${path} has no hash of ${visibleName(tool)} of ${visibleName(server)}`);
  }
  return value as unknown as ApprovedPins;
}

/** Sorted, with one tool on each line, as people compare it. */
export function pinFileText(pins: ApprovedPins): string {
  const sorted = <Value>(entries: Readonly<Record<string, Value>>) =>
    Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1));
  const servers = sorted(pins).map(([server, own]) => [server, Object.fromEntries(sorted(own))] as const);
  return `${JSON.stringify(Object.fromEntries(servers), null, 2)}\n`;
}

/** What became of a change of the file. */
export interface WrittenPins {
  readonly path: string;
  /** The whole file with the change. */
  readonly text: string;
  /** Why it could not be written; absent: it was. */
  readonly fault?: string;
}

/** Changes the pins of a server, in one step. @throws Error with a clause for a file of something else */
export async function writePinFile(
  path: string,
  server: string,
  change: (before: ServerPins) => ServerPins,
): Promise<WrittenPins> {
  const all = readPinFile(path);
  const before = Object.hasOwn(all, server) ? all[server]! : {};
  const text = pinFileText({ ...all, [server]: change(before) });
  // A link stays one.
  const target = await realpath(path).catch(() => path);
  const next = `${target}.${crypto.randomUUID()}`;
  try {
    await writeFile(next, text, { flag: "wx" });
    const known = await stat(target).catch(() => undefined);
    if (known) await chmod(next, known.mode & 0o777);
    await rename(next, target);
    return { path, text };
  } catch (cause) {
    await rm(next, { force: true }).catch(() => {});
    return { path, text, fault: describeFileError(cause) };
  }
}
