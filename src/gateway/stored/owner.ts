/** The owner of stored answers: a permanent id of the gateway key, so that a new key of the same name inherits nothing. */

/** @param key name of the gateway key; absent while the gateway has no keys */
export function ownerOf(key: string | undefined): string {
  return key === undefined ? "" : `config:${key}`;
}
