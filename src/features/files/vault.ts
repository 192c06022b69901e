/** The files of a gateway as one worker reads and writes them: rows by the keeper, bytes by itself. */
import { GatewayError } from "../../core/error.ts";
import type { ByteRange, FileFacts, KeptFile, KeptFiles } from "../../core/kept-files.ts";
import { createKeptId, keptIdIn } from "../../core/kept-id.ts";
import type { Principal } from "../../core/principal.ts";
import { describeFileError, systemCode } from "../../core/system-error.ts";
import type { Asks } from "./asks.ts";
import type { FileRow, FilesAnswer, ListAsk, Owner, Refusal, Seer } from "./messages.ts";
import type { FileLimits } from "./settings.ts";
import { Places } from "./store/places.ts";
import { DamagedBytes, seal, unseal } from "./store/sealed.ts";

/** Bytes that are written, and belong to no file or part yet. */
export interface Draft {
  readonly id: string;
  readonly bytes: number;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  readonly keptIn: string;
}

/** Sealed bytes, of a file or of a part. */
export type Sealed = Pick<Draft, "id" | "bytes" | "keptIn">;

export interface VaultOptions {
  readonly asks: Asks;
  readonly limits: () => FileLimits;
  /** Logs why bytes cannot be written, as a sentence. */
  readonly fault: (sentence: string) => void;
}

export class Vault implements KeptFiles {
  readonly asks: Asks;
  readonly #limits: () => FileLimits;
  readonly #fault: (sentence: string) => void;
  readonly #places: Places;
  readonly #keys = new Map<string, Buffer>();

  constructor({ asks, limits, fault }: VaultOptions) {
    this.#fault = fault;
    this.asks = asks;
    this.#limits = limits;
    this.#places = new Places(() => asks.folder());
  }

  async find(id: string, principal: Principal | undefined): Promise<FileRow | undefined> {
    const bare = keptIdIn(id);
    if (bare === undefined) return undefined;
    const seer = this.seerOf(principal);
    const { files } = await this.asks.ask({ find: bare, ...(seer && { seer }) });
    return files?.[0];
  }

  async list(principal: Principal | undefined, list: Omit<ListAsk, "seer">): Promise<FilesAnswer> {
    const seer = this.seerOf(principal);
    return this.asks.ask({ list: { ...list, ...(seer && { seer }) } });
  }

  async *read(file: KeptFile, range?: ByteRange): AsyncGenerator<Uint8Array, void, undefined> {
    const row = await this.#rowOf(file);
    yield* this.open(row.path, row, range);
  }

  /** The bytes of a file or of a part. @param path to which it belongs @throws GatewayError `file_damaged` */
  async *open(
    path: string,
    { id, bytes, keptIn }: Sealed,
    range?: ByteRange,
  ): AsyncGenerator<Uint8Array, void> {
    const key = await this.#keyOf(path);
    const shop = await this.#places.shop(keptIn);
    try {
      yield* unseal(key, id, bytes, (from, to) => shop.get(id, from, to), range);
    } catch (cause) {
      if (!(cause instanceof DamagedBytes) && !isGone(cause)) throw cause;
      throw new GatewayError(
        "internal",
        "The stored bytes of the file are damaged or missing; upload it again.",
        {
          ...{ code: "file_damaged", cause, shouldRetry: false },
        },
      );
    }
  }

  async write(facts: FileFacts, bytes: AsyncIterable<Uint8Array>, id?: string): Promise<FileRow> {
    const draft = await this.draft(facts.path, bytes, undefined, id);
    return (await this.keep(draft, facts)).file;
  }

  /**
   * Writes bytes to which a row is given later. If it throws, there are none.
   * @param path to which they will belong @param most bytes; absent: as many as the quota has left
   */
  async draft(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    most?: number,
    id = createKeptId(),
  ): Promise<Draft> {
    const { where } = this.#limits();
    const { key, left } =
      most === undefined ? await this.room(path) : { key: await this.#keyOf(path), left: most };
    const shop = await this.#places.shop(where);
    const measured = new Measured(bytes, left);
    await shop.put(id, seal(key, id, measured.pieces())).catch((cause: unknown) => {
      throw this.#unwritten(cause);
    });
    return { id, keptIn: where, bytes: measured.bytes, sha256: measured.sha256() };
  }

  /**
   * Makes a file of a draft; if it throws, the bytes are gone.
   * @param of the upload that ends with it @returns with it the parts of the upload, whose bytes nothing needs any more
   */
  async keep(
    draft: Draft,
    facts: FileFacts,
    of?: string,
  ): Promise<{ file: FileRow; parts: readonly Sealed[] }> {
    const file: FileRow = { ...facts, ...draft, createdAt: Date.now() };
    try {
      const add = { add: file, quota: this.#limits().quota, ...(of !== undefined && { of }) };
      const { parts = [] } = granted(await this.asks.ask(add));
      return { file, parts };
    } catch (cause) {
      await this.drop(draft);
      throw cause;
    }
  }

  /** Deletes bytes. What cannot be deleted now, the keeper deletes later. */
  async drop({ id, keptIn }: Pick<Sealed, "id" | "keptIn">): Promise<void> {
    const shop = await this.#places.shop(keptIn);
    await shop.del(id).catch(() => {});
  }

  async remove(id: string): Promise<void> {
    const { files = [], refused } = await this.asks.ask({ remove: keptIdIn(id) ?? id });
    if (refused === "held") throw refusal("held");
    for (const file of files) await this.drop(file);
  }

  async hold(id: string, by: string): Promise<void> {
    granted(await this.asks.ask({ hold: keptIdIn(id) ?? id, by }));
  }

  async release(id: string, by: string): Promise<void> {
    await this.asks.ask({ release: keptIdIn(id) ?? id, by });
  }

  /** The key of a path, and how many bytes may still be written. @throws GatewayError `file_quota` if none */
  async room(path: string): Promise<{ key: Buffer; left: number }> {
    const { key, used = 0 } = granted(await this.asks.ask({ open: path }));
    const left = this.#limits().quota - used;
    if (left <= 0) throw refusal("quota");
    return { key: this.#noteKey(path, key!), left };
  }

  /** @throws GatewayError `file_quota` */
  full(): never {
    throw refusal("quota");
  }

  /** What is shared with a caller; undefined: everything, because calls need no key. */
  seerOf(principal: Principal | undefined): Seer | undefined {
    return principal && { ...ownerOf(principal), seesPath: this.#limits().seesPath };
  }

  /** What a client learns of a disk that is full, and of a bucket that does not answer. */
  #unwritten(cause: unknown): unknown {
    const code = systemCode(cause);
    if (cause instanceof GatewayError || code === undefined) return cause;
    this.#fault(`files: bytes cannot be written: ${describeFileError(cause)}`);
    return new GatewayError("overloaded", "weir cannot write its files at the moment; retry in 30 s.", {
      ...{ code: "files_unavailable", retryAfter: 30, cause },
    });
  }

  async #rowOf(file: KeptFile): Promise<FileRow> {
    if ("keptIn" in file) return file as FileRow;
    const { files } = await this.asks.ask({ find: file.id });
    if (files?.[0]) return files[0];
    throw refusal("none");
  }

  async #keyOf(path: string): Promise<Buffer> {
    const known = this.#keys.get(path);
    if (known) return known;
    return this.#noteKey(path, granted(await this.asks.ask({ open: path })).key!);
  }

  #noteKey(path: string, coded: string): Buffer {
    const key = Buffer.from(coded, "base64");
    this.#keys.set(path, key);
    return key;
  }
}

/** To whom belongs what a caller sends. */
export function ownerOf(principal: Principal | undefined): Owner {
  if (!principal) return { path: "/" };
  const { path, person } = principal;
  // A caller without key and person has its own id in place of a key's.
  const key = principal.key?.id ?? (person === undefined ? principal.id : undefined);
  return { path, ...(key !== undefined && { key }), ...(person !== undefined && { person }) };
}

/** @throws GatewayError if it was not done */
export function granted(answer: FilesAnswer): FilesAnswer {
  if (answer.refused !== undefined) throw refusal(answer.refused);
  return answer;
}

function refusal(reason: Refusal): GatewayError {
  if (reason === "quota")
    return new GatewayError(
      "permission",
      "The files of this path would exceed their quota (files.quota); delete some first.",
      { code: "file_quota", shouldRetry: false },
    );
  if (reason === "held")
    return new GatewayError("conflict", "The file is being read; delete it when that has ended.", {
      ...{ code: "file_in_use", shouldRetry: false },
    });
  if (reason === "state")
    return new GatewayError(
      "invalid-request",
      "The upload has ended, or its time is over; begin another one.",
    );
  if (reason === "length")
    return new GatewayError("invalid-request", "The upload would be longer than was said when it began.");
  return new GatewayError("not-found", "There is no such file.", { code: "file_not_found" });
}

/** Codes of a folder and of a bucket. */
const GONE = new Set<string | undefined>(["ENOENT", "NoSuchKey"]);

function isGone(cause: unknown): boolean {
  return GONE.has(systemCode(cause));
}

/** Counts and digests bytes as they pass. */
class Measured {
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #most: number;
  readonly #hash = new Bun.CryptoHasher("sha256");
  bytes = 0;

  constructor(bytes: AsyncIterable<Uint8Array>, most: number) {
    this.#bytes = bytes;
    this.#most = most;
  }

  async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of this.#bytes) {
      this.bytes += piece.length;
      if (this.bytes > this.#most) throw refusal("quota");
      this.#hash.update(piece);
      yield piece;
    }
  }

  sha256(): string {
    return this.#hash.digest("hex");
  }
}
