/** The tables of SCIM. */

/**
 * person: whose access the user decides; null: the user waits, or is nobody. user_name: in small letters. email: the primary address,
 * emails: all, each between line breaks. display: displayName. These three in small letters. held: 1 if SCIM has suspended the person, so that it may restore it.
 * document: JSON as the sender wrote it, without what other columns and tables say.
 */
export const SCIM = `
CREATE TABLE identity_scim_users (id TEXT PRIMARY KEY, person TEXT, user_name TEXT NOT NULL UNIQUE, external_id TEXT UNIQUE,
  name TEXT NOT NULL, display TEXT, email TEXT, emails TEXT NOT NULL, active {INT} NOT NULL, held {INT} NOT NULL, document TEXT NOT NULL,
  created {INT} NOT NULL, changed {INT} NOT NULL) {KEYED};
CREATE INDEX identity_scim_users_person ON identity_scim_users (person);
CREATE INDEX identity_scim_users_email ON identity_scim_users (email);
CREATE TABLE identity_scim_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL, external_id TEXT, folded TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL, created {INT} NOT NULL, changed {INT} NOT NULL) {KEYED};
-- member: a user or a group.
CREATE TABLE identity_scim_members (grp TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (grp, member)) {KEYED};
CREATE INDEX identity_scim_members_member ON identity_scim_members (member);
CREATE INDEX identity_people_email ON identity_people (LOWER(email));
`;

export const SCIM_TABLES = ["identity_scim_users", "identity_scim_groups", "identity_scim_members"];
