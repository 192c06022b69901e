/** The table of the rules that operators add at run time. */
import type { FeatureTables } from "../../keeper/seams.ts";

export const RULES_TABLE = "capture_rules";

const RULES = `
-- kind, what: a session by its hash, a key by its id, or a path. path: where it lies. ends: milliseconds since 1970, as created.
CREATE TABLE capture_rules (id TEXT PRIMARY KEY, kind TEXT NOT NULL, what TEXT NOT NULL, path TEXT NOT NULL, actor TEXT NOT NULL,
  created {INT} NOT NULL, ends {INT} NOT NULL, version {INT} NOT NULL, deleted_at {INT}) {KEYED};
CREATE INDEX capture_rules_version ON capture_rules (version);
`;

export const tables: FeatureTables = {
  migrations: [RULES],
  copied: [RULES_TABLE],
  replicas: [RULES_TABLE],
};
