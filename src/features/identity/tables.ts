/** The tables of people in the store of the books. */
import type { FeatureTables } from "../../keeper/seams.ts";

const FIRST = `
-- People and workloads that weir has seen, or that an operator has named. name, email: empty after they were forgotten.
CREATE TABLE identity_people (id TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, email TEXT,
  email_verified {INT} NOT NULL, path TEXT NOT NULL, source TEXT NOT NULL, created {INT} NOT NULL, seen {INT} NOT NULL) {KEYED};
-- What every worker must know: of people whom their tokens alone do not describe, and of tokens that were revoked.
CREATE TABLE identity_access (id TEXT PRIMARY KEY, status TEXT NOT NULL, path TEXT, grants TEXT NOT NULL, not_before {INT} NOT NULL,
  cut {INT} NOT NULL, version {INT} NOT NULL, deleted_at {INT}) {KEYED};
CREATE INDEX identity_access_version ON identity_access (version);
`;

export const tables: FeatureTables = {
  migrations: [FIRST],
  copied: ["identity_people", "identity_access"],
  recovered: ["identity_people", "identity_access"],
  replicas: ["identity_access"],
};
