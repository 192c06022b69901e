/**
 * `config.sqlite` of claude-code-router, which has the settings since version 3: one JSON text in `app_config`, and the keys of
 * clients in `api_keys`. https://github.com/musistudio/claude-code-router
 */
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject, parseJson } from "../../../core/json.ts";
import type { SourceDocument } from "../source.ts";

const MAGIC = "SQLite format 3";

/** Whether a file is a database of SQLite. */
export function isDatabase(file: string): boolean {
  try {
    return readFileSync(file).subarray(0, MAGIC.length).toString("latin1") === MAGIC;
  } catch {
    return false;
  }
}

interface KeyRow {
  name: string;
  encrypted_key: string;
  encryption: string;
  expires_at: string;
  limits_json: string;
}

/** @param name of the file in messages @throws Error with one sentence if it is no database of claude-code-router */
export function readCcrDatabase(file: string, name: string): SourceDocument {
  // SQLite writes files beside a database that it opens.
  const folder = mkdtempSync(join(tmpdir(), "weir-import-"));
  try {
    const copy = join(folder, "config.sqlite");
    for (const end of ["", "-wal"]) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
    const database = new Database(copy);
    try {
      return documentOf(database, name);
    } finally {
      database.close();
    }
  } catch (cause) {
    throw new Error(`${name} is no database of claude-code-router (${String(cause)})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function documentOf(database: Database, name: string): SourceDocument {
  const row = database
    .query<{ value_json: string }, []>("SELECT value_json FROM app_config WHERE key = 'default'")
    .get();
  const settings = parseJson(row?.value_json ?? "");
  if (!isObject(settings)) throw new Error("app_config has no settings");
  const rows = database
    .query<KeyRow, []>("SELECT name, encrypted_key, encryption, expires_at, limits_json FROM api_keys")
    .all();
  const unreadable = rows.filter(({ encryption }) => encryption !== "plain");
  const keys = rows
    .filter(({ encryption }) => encryption === "plain")
    .map(({ name: owner, encrypted_key: key, expires_at: expiresAt, limits_json }) => {
      const limits = parseJson(limits_json);
      return { name: owner, key, ...(expiresAt && { expiresAt }), ...(isObject(limits) && { limits }) };
    });
  return {
    name,
    value: { ...settings, ...(keys.length > 0 && { APIKEYS: keys }) },
    locate: ([first]) => `${name}:${first === "APIKEYS" ? "api_keys" : "app_config"}`,
    notes: unreadable.map(({ name: owner }) => `the key ${owner} is encrypted: make it again in weir`),
  };
}
