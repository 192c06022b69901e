/** The tables of people in the store of the books. */
import type { FeatureTables } from "../../keeper/seams.ts";
import { AUTHORIZATION, AUTHORIZATION_TABLES } from "./own/tables.ts";
import { ID_TOKENS, REFRESH_TOKENS } from "./sign-in/refresh-tables.ts";
import { SCIM, SCIM_TABLES } from "./scim/tables.ts";

const FIRST = `
-- People and workloads that weir has seen, or that an operator has named. name, email: empty after they were forgotten.
CREATE TABLE identity_people (id TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, email TEXT,
  email_verified {INT} NOT NULL, path TEXT NOT NULL, source TEXT NOT NULL, created {INT} NOT NULL, seen {INT} NOT NULL) {KEYED};
-- What every worker must know: of people whom their tokens alone do not describe, and of tokens that were revoked.
CREATE TABLE identity_access (id TEXT PRIMARY KEY, status TEXT NOT NULL, path TEXT, grants TEXT NOT NULL, not_before {INT} NOT NULL,
  cut {INT} NOT NULL, version {INT} NOT NULL, deleted_at {INT}) {KEYED};
CREATE INDEX identity_access_version ON identity_access (version);
`;

const SESSIONS = `
-- People who are signed in. hash: of the secret in the cookie. sid: the session's name at the provider.
CREATE TABLE identity_sessions (hash TEXT PRIMARY KEY, person TEXT NOT NULL, provider TEXT NOT NULL, sid TEXT, created {INT} NOT NULL,
  until_at {INT} NOT NULL, address TEXT NOT NULL) {KEYED};
CREATE INDEX identity_sessions_person ON identity_sessions (person);
`;

export const tables: FeatureTables = {
  migrations: [FIRST, SESSIONS, AUTHORIZATION, REFRESH_TOKENS, SCIM, ID_TOKENS],
  copied: [
    ...["identity_people", "identity_access", "identity_sessions", "identity_provider_tokens"],
    ...AUTHORIZATION_TABLES,
    ...SCIM_TABLES,
  ],
  sealed: [{ table: "identity_provider_tokens", column: "sealed", key: ["person", "provider"] }],
  recovered: ["identity_people", "identity_access", ...SCIM_TABLES],
  replicas: ["identity_access"],
};
