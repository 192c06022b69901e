/**
 * The table of sign-ins to the console. It has a version of its own, as tables of features have, so that an earlier version of
 * weir opens the store as before.
 */
import type { NamedTables } from "../seams.ts";

const SESSIONS = `
-- Browsers that are signed in. hash: of the secret in the cookie. key_hash: of the key that it signed in with; none for a link.
CREATE TABLE console_sessions (hash TEXT PRIMARY KEY, key_hash TEXT, until_at {INT} NOT NULL) {KEYED};
`;

export const CONSOLE_TABLES: NamedTables = {
  feature: "console",
  tables: { migrations: [SESSIONS], copied: ["console_sessions"], recovered: ["console_sessions"] },
};
