/** Files in the store: their rows, the keys of their bytes, and how much each path has. */
import { randomBytes } from "node:crypto";
import { rowOf } from "../../../core/envelope.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import type { FileRow, FilesAnswer, ListAsk, Seer } from "../messages.ts";
import type { BookOptions } from "./options.ts";
import { Refused } from "./refused.ts";
import { leaveRoom, useRoom } from "./room.ts";
import { FileChoice, insertFile } from "./rows.ts";
import { endUpload } from "./upload-book.ts";

const KEY = 32;

export class FileBook {
  readonly #options: BookOptions;

  constructor(options: BookOptions) {
    this.#options = options;
  }

  /** The key of a path, which is made with its first file. */
  async open(path: string): Promise<FilesAnswer> {
    const { host } = this.#options;
    const envelope = host.envelope();
    if (!envelope) return { refused: "sealed" };
    const row = rowOf("file_paths", "sealed", [path]);
    const read = () =>
      host.read((sql) =>
        sql.all<{ sealed: string; used: number }>("SELECT sealed, used FROM file_paths WHERE path = $1", [
          path,
        ]),
      );
    let [found] = await read();
    if (!found) {
      const sealed = envelope.seal(randomBytes(KEY).toString("base64"), row);
      await host.write((sql) =>
        sql.insert("file_paths", ["path", "sealed", "used"], [[path, sealed, 0]], "ON CONFLICT DO NOTHING"),
      );
      [found] = await read();
    }
    const key = envelope.open(found!.sealed, row);
    return key === undefined ? { refused: "sealed" } : { key, used: found!.used };
  }

  /** Adds a file. @param of the upload that ends with it @returns the parts of the upload */
  add(file: FileRow, quota: number, of?: string): Promise<FilesAnswer> {
    return Refused.caught(() =>
      this.#options.host.write(async (sql) => {
        const parts = of === undefined ? [] : await endUpload(sql, of, "completed", file.id);
        await useRoom(sql, file.path, file.bytes, quota);
        await insertFile(sql, file);
        return { parts };
      }),
    );
  }

  async find(id: string, seer?: Seer): Promise<FilesAnswer> {
    const files = await this.#options.host.read((sql) =>
      new FileChoice(this.#options.now()).oneOf("id", [id]).seenBy(seer).read(sql),
    );
    return { files };
  }

  async list({
    seer,
    purpose,
    ids,
    isAscending,
    from,
    isBefore = false,
    limit,
  }: ListAsk): Promise<FilesAnswer> {
    const choice = new FileChoice(this.#options.now()).seenBy(seer);
    if (purpose !== undefined) choice.oneOf("purpose", [purpose]);
    if (ids) choice.oneOf("id", ids);
    // Ids begin with the time.
    const isUp = isAscending !== isBefore;
    if (from !== undefined) choice.and(`id ${isUp ? ">" : "<"} ${choice.value(from)}`);
    const end = `ORDER BY id ${isUp ? "ASC" : "DESC"} LIMIT ${limit + 1}`;
    const found = await this.#options.host.read((sql) => choice.read(sql, end));
    const files = found.slice(0, limit);
    return { files: isBefore ? files.reverse() : files, hasMore: found.length > limit };
  }

  /** The newest files of a path and below. @param before older ones than this one */
  async within(path: string, limit: number, before?: string): Promise<FilesAnswer> {
    const choice = new FileChoice(this.#options.now());
    if (path !== "/") {
      const below = `${path}/`;
      choice.and(
        `(path = ${choice.value(path)} OR substr(path, 1, ${below.length}) = ${choice.value(below)})`,
      );
    }
    if (before !== undefined) choice.and(`id < ${choice.value(before)}`);
    const end = `ORDER BY id DESC LIMIT ${limit + 1}`;
    const found = await this.#options.host.read((sql) => choice.read(sql, end));
    return { files: found.slice(0, limit), hasMore: found.length > limit };
  }

  /** Deletes a row. @returns it, so that its bytes are deleted */
  remove(id: string): Promise<FilesAnswer> {
    return Refused.caught(() =>
      this.#options.host.write(async (sql) => {
        // Also one that has expired: its bytes are there until the next sweep.
        const [file] = await new FileChoice(0).oneOf("id", [id]).read(sql);
        if (!file) throw new Refused("none");
        if ((await deleteFile(sql, file)) === 0) throw new Refused("held");
        return { files: [file] };
      }),
    );
  }

  hold(id: string, by: string): Promise<FilesAnswer> {
    return Refused.caught(() =>
      this.#options.host.write(async (sql) => {
        const [file] = await new FileChoice(this.#options.now()).oneOf("id", [id]).read(sql);
        if (!file) throw new Refused("none");
        const isNew = await sql.run(
          "INSERT INTO file_holds (file, holder) VALUES ($1, $2) ON CONFLICT DO NOTHING",
          [id, by],
        );
        if (isNew > 0 && (await sql.run("UPDATE files SET held = held + 1 WHERE id = $1", [id])) === 0)
          throw new Refused("none");
        return {};
      }),
    );
  }

  release(id: string, by: string): Promise<FilesAnswer> {
    return this.#options.host.write(async (sql) => {
      const gone = await sql.run("DELETE FROM file_holds WHERE file = $1 AND holder = $2", [id, by]);
      if (gone > 0) await sql.run("UPDATE files SET held = held - 1 WHERE id = $1", [id]);
      return {};
    });
  }

  /** Deletes rows of files that have expired. @param most rows at once @returns them */
  expire(most: number): Promise<FileRow[]> {
    return this.#options.host.write(async (sql) => {
      const choice = new FileChoice(0);
      choice.and(`expires <= ${choice.value(this.#options.now())}`).and("held = 0");
      const files = await choice.read(sql, `ORDER BY id LIMIT ${most}`);
      const gone: FileRow[] = [];
      for (const file of files) if ((await deleteFile(sql, file)) > 0) gone.push(file);
      return gone;
    });
  }
}

/** A row that is held since it was read stays. @returns how many rows were deleted */
async function deleteFile(sql: Sql, { id, path, bytes }: FileRow): Promise<number> {
  const gone = await sql.run("DELETE FROM files WHERE id = $1 AND held = 0", [id]);
  if (gone > 0) await leaveRoom(sql, path, bytes);
  return gone;
}
