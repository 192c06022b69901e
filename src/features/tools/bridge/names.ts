/** Names of tools and prompts where several servers are merged: `SERVER__NAME`. */

/** Models and clients cut longer names. */
const MOST = 64;
const SEPARATOR = "__";

/** At most 64 characters; a longer name is shortened and has a digest of the whole at its end. */
export function mergedName(server: string, name: string): string {
  const whole = fullName(server, name);
  if (whole.length <= MOST) return whole;
  const digest = new Bun.CryptoHasher("sha256").update(whole).digest("hex").slice(0, 8);
  // Models take letters, digits, underscores and dashes alone.
  return `${whole.slice(0, MOST - digest.length - 1).replace(/[^\w-]/g, "_")}_${digest}`;
}

/** Whether a tool of a server may have a longer name than this. @param name that a client has, perhaps with more in front */
export function isShortened(server: string, name: string): boolean {
  return name.length - name.lastIndexOf(server + SEPARATOR) === MOST;
}

/** The whole name, in the books too. */
export function fullName(server: string, name: string): string {
  return server + SEPARATOR + name;
}

/** Splits at the first separator: names of servers have none. */
export function splitName(name: string): { server: string; rest: string } | undefined {
  const at = name.indexOf(SEPARATOR);
  return at <= 0 ? undefined : { server: name.slice(0, at), rest: name.slice(at + SEPARATOR.length) };
}
