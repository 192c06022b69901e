/** The hash under which a session is recorded: its id at the client is not stored. */

/**
 * @param caller id of the key, empty without one: sessions of two callers are two sessions
 * @returns 16 hexadecimal digits
 */
export function sessionHash(caller: string, session: string): string {
  return new Bun.CryptoHasher("sha256").update(`${caller}\n${session}`).digest("hex").slice(0, 16);
}
