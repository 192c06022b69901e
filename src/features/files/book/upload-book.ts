/** Files that come in parts. */
import type { Sql } from "../../../keeper/store/sql.ts";
import type { FilesAnswer, PartRow, UploadRow } from "../messages.ts";
import type { BookOptions } from "./options.ts";
import { Refused } from "./refused.ts";
import { leaveRoom, useRoom } from "./room.ts";
import { insertUpload, readParts, readUpload } from "./rows.ts";

/** An upload that has ended is known for so long. Milliseconds. */
const KNOWN_MS = 86_400_000;

export interface NewPart {
  readonly addPart: PartRow;
  readonly at?: number;
  readonly most: number;
  readonly quota: number;
}

export class UploadBook {
  readonly #options: BookOptions;

  constructor(options: BookOptions) {
    this.#options = options;
  }

  async begin(upload: UploadRow): Promise<FilesAnswer> {
    await this.#options.host.write((sql) => insertUpload(sql, upload));
    return {};
  }

  read(id: string): Promise<FilesAnswer> {
    return this.#options.host.read(async (sql) => {
      const upload = await readUpload(sql, id);
      return upload ? { upload, parts: await readParts(sql, id) } : { refused: "none" };
    });
  }

  addPart({ addPart: part, at, most, quota }: NewPart): Promise<FilesAnswer> {
    return Refused.caught(() =>
      this.#options.host.write(async (sql) => {
        const { id, bytes, keptIn, createdAt } = part;
        const changed = await sql.run(
          `UPDATE file_uploads SET received = received + $2 WHERE id = $1 AND state = 'pending' AND expires > $3
           AND received + $2 <= $4 AND ($5 < 0 OR received = $5)`,
          [part.upload, bytes, this.#options.now(), most, at ?? -1],
        );
        const upload = await readUpload(sql, part.upload);
        if (!upload) throw new Refused("none");
        const isOpen = upload.state === "pending" && upload.expiresAt > this.#options.now();
        if (changed === 0) throw new Refused(isOpen ? "length" : "state");
        await useRoom(sql, upload.path, bytes, quota);
        await sql.insert(
          "file_parts",
          ["id", "upload", "bytes", "kept_in", "created"],
          [[id, part.upload, bytes, keptIn, createdAt]],
        );
        return { upload };
      }),
    );
  }

  /** @returns its parts, so that their bytes are deleted */
  cancel(id: string): Promise<FilesAnswer> {
    return Refused.caught(() =>
      this.#options.host.write(async (sql) => ({ parts: await endUpload(sql, id, "cancelled") })),
    );
  }

  /** Cancels uploads whose time is over, and forgets those of before. @returns the parts of the former */
  expire(most: number): Promise<PartRow[]> {
    return this.#options.host.write(async (sql) => {
      const now = this.#options.now();
      const late = await sql.all<{ id: string }>(
        `SELECT id FROM file_uploads WHERE state = 'pending' AND expires <= $1 ORDER BY id LIMIT ${most}`,
        [now],
      );
      const parts: PartRow[] = [];
      for (const { id } of late) parts.push(...(await endUpload(sql, id, "cancelled")));
      await sql.run("DELETE FROM file_uploads WHERE state <> 'pending' AND expires <= $1", [now - KNOWN_MS]);
      return parts;
    });
  }
}

/** Ends an upload that is open. @param file what it became @returns its parts, whose rows are gone @throws Refused */
export async function endUpload(
  sql: Sql,
  id: string,
  state: "completed" | "cancelled",
  file: string | null = null,
): Promise<PartRow[]> {
  const changed = await sql.run(
    "UPDATE file_uploads SET state = $2, file = $3 WHERE id = $1 AND state = 'pending'",
    [id, state, file],
  );
  if (changed === 0) throw new Refused("state");
  const parts = await readParts(sql, id);
  const { path } = (await readUpload(sql, id))!;
  await sql.run("DELETE FROM file_parts WHERE upload = $1", [id]);
  await leaveRoom(
    sql,
    path,
    parts.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return parts;
}
