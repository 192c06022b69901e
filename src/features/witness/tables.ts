/** The tables: what looks saw, the times of looks, and the changes that were found. */
import type { FeatureTables } from "../../keeper/seams.ts";

const TABLES = `
-- number: position in the chain. prior, hash: SHA-256 of the observation before it and of this one. own, seen: JSON.
CREATE TABLE witness_observations (number {INT} PRIMARY KEY, id TEXT NOT NULL UNIQUE, at {INT} NOT NULL, taken_by TEXT NOT NULL,
  model TEXT NOT NULL, own TEXT NOT NULL, seen TEXT NOT NULL, cost {INT} NOT NULL, prior TEXT NOT NULL, hash TEXT NOT NULL) {ROWS};
CREATE INDEX witness_observations_at ON witness_observations (at);
-- One look: of several nodes one makes it. slot: of the schedule, as its beginning in milliseconds since 1970; of the command, its own time.
-- held: nano-dollars that it may cost at most; spent: what it cost, absent while it runs or if its process has ended.
CREATE TABLE witness_looks (slot TEXT PRIMARY KEY, at {INT} NOT NULL, held {INT} NOT NULL, spent {INT}) {KEYED};
-- A change of a provider that the sequential tests found. stream: the test. observation: the one that was enough. since: when it began at the latest.
CREATE TABLE witness_changes (id TEXT PRIMARY KEY, at {INT} NOT NULL, model TEXT NOT NULL, kind TEXT NOT NULL,
  stream TEXT NOT NULL,  words TEXT NOT NULL, evidence TEXT NOT NULL, observation TEXT NOT NULL, since {INT} NOT NULL) {KEYED};
`;

export const tables: FeatureTables = {
  migrations: [TABLES],
  copied: ["witness_observations", "witness_looks", "witness_changes"],
  recovered: ["witness_observations", "witness_looks", "witness_changes"],
};
