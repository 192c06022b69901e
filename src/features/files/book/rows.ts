/** Rows of the tables, and the conditions that choose them. */
import type { Sql, SqlValue } from "../../../keeper/store/sql.ts";
import type { FileRow, PartRow, Seer, UploadFacts, UploadRow } from "../messages.ts";

export interface StoredFile {
  readonly id: string;
  readonly path: string;
  readonly key: string | null;
  readonly person: string | null;
  readonly name: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mime: string;
  readonly created: number;
  readonly expires: number | null;
  readonly kept_in: string;
}

const FILE = "id, path, key, person, name, purpose, bytes, sha256, mime, created, expires, kept_in";

export function fileOf(row: StoredFile): FileRow {
  const { id, path, name, purpose, bytes, sha256, mime } = row;
  return {
    ...{ id, path, name, purpose, bytes, sha256, mime, createdAt: row.created, keptIn: row.kept_in },
    ...(row.key !== null && { key: row.key }),
    ...(row.person !== null && { person: row.person }),
    ...(row.expires !== null && { expiresAt: row.expires }),
  };
}

export async function insertFile(sql: Sql, file: FileRow): Promise<void> {
  const { id, path, key = null, person = null, name, purpose, bytes, sha256, mime } = file;
  const values = [id, path, key, person, name, purpose, bytes, sha256, mime];
  await sql.insert(
    "files",
    [...FILE.split(", "), "held"],
    [[...values, file.createdAt, file.expiresAt ?? null, file.keptIn, 0]],
  );
}

/** What chooses files, with its values. */
export class FileChoice {
  readonly values: SqlValue[] = [];
  readonly #conditions: string[] = [];

  /** Those that are there: what is held does not expire. @param now milliseconds since 1970 */
  constructor(now: number) {
    this.and(`(expires IS NULL OR expires > ${this.value(now)} OR held > 0)`);
  }

  value(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  and(condition: string): this {
    this.#conditions.push(condition);
    return this;
  }

  /** @param seer absent: everybody sees everything */
  seenBy(seer: Seer | undefined): this {
    if (!seer) return this;
    const { path, key, person, seesPath } = seer;
    const any = [
      ...(key === undefined ? [] : [`key = ${this.value(key)}`]),
      ...(person === undefined ? [] : [`person = ${this.value(person)}`]),
      ...(seesPath ? [`path = ${this.value(path)}`] : []),
    ];
    return this.and(any.length === 0 ? "1 = 0" : `(${any.join(" OR ")})`);
  }

  oneOf(column: string, values: readonly string[]): this {
    const list = values.map((value) => this.value(value)).join(", ");
    return this.and(values.length === 0 ? "1 = 0" : `${column} IN (${list})`);
  }

  async read(sql: Sql, end = ""): Promise<FileRow[]> {
    const text = `SELECT ${FILE} FROM files WHERE ${this.#conditions.join(" AND ")} ${end}`;
    return (await sql.all<StoredFile>(text, this.values)).map(fileOf);
  }
}

interface StoredUpload {
  readonly id: string;
  readonly path: string;
  readonly key: string | null;
  readonly person: string | null;
  readonly kind: UploadRow["kind"];
  readonly bytes: number;
  readonly facts: string;
  readonly received: number;
  readonly state: UploadRow["state"];
  readonly file: string | null;
  readonly created: number;
  readonly expires: number;
}

const UPLOAD = "id, path, key, person, kind, bytes, facts, received, state, file, created, expires";

export async function readUpload(sql: Sql, id: string): Promise<UploadRow | undefined> {
  const [row] = await sql.all<StoredUpload>(`SELECT ${UPLOAD} FROM file_uploads WHERE id = $1`, [id]);
  if (!row) return undefined;
  const { path, key, person, kind, bytes, received, state, file } = row;
  return {
    ...{ id, path, kind, bytes, received, state, createdAt: row.created, expiresAt: row.expires },
    facts: JSON.parse(row.facts) as UploadFacts,
    ...(key !== null && { key }),
    ...(person !== null && { person }),
    ...(file !== null && { file }),
  };
}

export async function insertUpload(sql: Sql, upload: UploadRow): Promise<void> {
  const { id, path, key = null, person = null, kind, bytes, facts, received, state } = upload;
  const values = [id, path, key, person, kind, bytes, JSON.stringify(facts), received, state, null];
  const times = [upload.createdAt, upload.expiresAt];
  await sql.insert("file_uploads", UPLOAD.split(", "), [[...values, ...times]]);
}

/** The parts of an upload in the order in which they came. */
export async function readParts(sql: Sql, upload: string): Promise<PartRow[]> {
  const rows = await sql.all<{ id: string; bytes: number; kept_in: string; created: number }>(
    "SELECT id, bytes, kept_in, created FROM file_parts WHERE upload = $1 ORDER BY created, id",
    [upload],
  );
  return rows.map(({ id, bytes, kept_in, created }) => ({
    ...{ id, upload, bytes, keptIn: kept_in, createdAt: created },
  }));
}
