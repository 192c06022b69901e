/** The tables of files, of uploads that have not ended, and of the keys that seal their bytes. */
import type { FeatureTables } from "../../keeper/seams.ts";

const FILES = `
-- A file. id: the time first. path, key, person: to whom it belongs. kept_in: the place of its bytes. held: how many rows of file_holds
-- it has. Times: milliseconds since 1970.
CREATE TABLE files (id TEXT PRIMARY KEY, path TEXT NOT NULL, key TEXT, person TEXT, name TEXT NOT NULL, purpose TEXT NOT NULL,
  bytes {INT} NOT NULL, sha256 TEXT NOT NULL, mime TEXT NOT NULL, created {INT} NOT NULL, expires {INT}, kept_in TEXT NOT NULL,
  held {INT} NOT NULL) {KEYED};
CREATE INDEX files_path ON files (path, id);
CREATE INDEX files_expires ON files (expires);
-- Why a file cannot be deleted and does not expire. holder: what holds it.
CREATE TABLE file_holds (file TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (file, holder)) {KEYED};
-- One row for each path with files. sealed: the key of their bytes. used: bytes of its files and of the parts of its uploads.
CREATE TABLE file_paths (path TEXT PRIMARY KEY, sealed TEXT NOT NULL, used {INT} NOT NULL) {KEYED};
-- A file that comes in parts. kind: 'parts' (OpenAI), 'resumable' (Google). bytes: how long it will be; -1: unknown. facts: JSON of
-- what the file will have. state: 'pending', 'completed', 'cancelled'. file: what it became. received: bytes of its parts.
CREATE TABLE file_uploads (id TEXT PRIMARY KEY, path TEXT NOT NULL, key TEXT, person TEXT, kind TEXT NOT NULL, bytes {INT} NOT NULL,
  facts TEXT NOT NULL, state TEXT NOT NULL, file TEXT, received {INT} NOT NULL, created {INT} NOT NULL,
  expires {INT} NOT NULL) {KEYED};
CREATE INDEX file_uploads_expires ON file_uploads (expires);
CREATE TABLE file_parts (id TEXT PRIMARY KEY, upload TEXT NOT NULL, bytes {INT} NOT NULL, kept_in TEXT NOT NULL,
  created {INT} NOT NULL) {KEYED};
CREATE INDEX file_parts_upload ON file_parts (upload, id);
`;

export const tables: FeatureTables = {
  migrations: [FILES],
  copied: ["files", "file_holds", "file_paths", "file_uploads", "file_parts"],
  sealed: [{ table: "file_paths", column: "sealed", key: ["path"] }],
  recovered: ["files", "file_holds", "file_paths", "file_uploads", "file_parts"],
};
