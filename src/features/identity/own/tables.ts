/** The tables of the authorization server. No secret is in them: codes and refresh tokens are there as their hashes. */
export const AUTHORIZATION = `
-- Devices that wait for a person. hash: of the device code. state: open, granted, spent or denied. family: once it is spent.
CREATE TABLE identity_devices (hash TEXT PRIMARY KEY, user_code TEXT NOT NULL UNIQUE, client TEXT NOT NULL, scope TEXT NOT NULL,
  state TEXT NOT NULL, person TEXT, provider TEXT, family TEXT, address TEXT NOT NULL, created {INT} NOT NULL, until_at {INT} NOT NULL) {KEYED};
-- Tokens that follow from one approval. audience: of their access tokens. reason: why they were revoked.
CREATE TABLE identity_families (id TEXT PRIMARY KEY, person TEXT NOT NULL, provider TEXT NOT NULL, client TEXT NOT NULL, scope TEXT NOT NULL,
  audience TEXT NOT NULL, created {INT} NOT NULL, revoked {INT}, reason TEXT) {KEYED};
CREATE INDEX identity_families_person ON identity_families (person);
-- hash: of the refresh token. used_at: when it was exchanged for the next one.
CREATE TABLE identity_refresh (hash TEXT PRIMARY KEY, family TEXT NOT NULL, created {INT} NOT NULL, used_at {INT}, until_at {INT} NOT NULL) {KEYED};
CREATE INDEX identity_refresh_family ON identity_refresh (family);
-- hash: of the authorization code. family: once it was exchanged.
CREATE TABLE identity_codes (hash TEXT PRIMARY KEY, client TEXT NOT NULL, redirect TEXT NOT NULL, challenge TEXT NOT NULL, person TEXT NOT NULL,
  provider TEXT NOT NULL, scope TEXT NOT NULL, audience TEXT NOT NULL, until_at {INT} NOT NULL, family TEXT) {KEYED};
-- What people have permitted to programs.
CREATE TABLE identity_consents (person TEXT NOT NULL, client TEXT NOT NULL, scope TEXT NOT NULL, until_at {INT} NOT NULL,
  PRIMARY KEY (person, client)) {KEYED};
`;

export const AUTHORIZATION_TABLES = [
  "identity_devices",
  "identity_families",
  "identity_refresh",
  "identity_codes",
  "identity_consents",
] as const;
