/** Sign-ins of this user at gateways, in a file that only the user reads. */
import { chmod, mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, parseJson } from "../../../core/json.ts";
import { systemCode } from "../../../core/system-error.ts";

export interface Login {
  readonly refreshToken: string;
  readonly accessToken: string;
  /** End of the access token. Milliseconds since 1970. */
  readonly until: number;
  readonly scope?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Error with one sentence without a home folder */
export function loginsFile({ XDG_CONFIG_HOME, APPDATA, HOME, USERPROFILE }: Environment): string {
  const home = HOME ?? USERPROFILE;
  const folder = XDG_CONFIG_HOME ?? APPDATA ?? (home && join(home, ".config"));
  if (!folder) throw new Error("there is no folder for the sign-in; set HOME");
  return join(folder, "weir", "logins.json");
}

/** @returns by the address of the gateway @throws Error with one sentence for a file that cannot be read */
export async function readLogins(file: string): Promise<ReadonlyMap<string, Login>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return new Map();
    throw new Error(`the file ${file} cannot be read`, { cause });
  }
  const found = parseJson(text);
  if (!isObject(found)) throw new Error(`the file ${file} is no JSON object; remove it, and sign in again`);
  return new Map(Object.entries(found as unknown as Record<string, Login>));
}

/**
 * Changes one sign-in. Another process sees the file as it was or as it is then, never a part of it.
 * @param login undefined removes it
 */
export async function writeLogin(file: string, url: string, login: Login | undefined): Promise<void> {
  const logins = new Map(await readLogins(file));
  if (login) logins.set(url, login);
  else logins.delete(url);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const made = `${file}.${process.pid}`;
  try {
    await writeFile(made, JSON.stringify(Object.fromEntries(logins), null, 2), { mode: 0o600 });
    await chmod(made, 0o600);
    await rename(made, file);
  } catch (cause) {
    await unlink(made).catch(() => {});
    throw new Error(`the file ${file} cannot be written`, { cause });
  }
}
