/** Files that clients keep in weir, for the parts that read and write them. */
import type { Principal } from "./principal.ts";
import { Slot } from "./slot.ts";

/** What is known of a file. Times are milliseconds since 1970. */
export interface KeptFile {
  /** 26 characters without a prefix: vendors print it as `file-ID`, `file_ID` and `files/ID`. */
  readonly id: string;
  /** To whom it belongs: path, key and person of the caller. Without keys the path is `/`. */
  readonly path: string;
  readonly key?: string;
  readonly person?: string;
  /** As the client named it. */
  readonly name: string;
  /** As OpenAI names purposes: `batch`, `user_data`, `batch_output`. */
  readonly purpose: string;
  readonly bytes: number;
  /** Media type. */
  readonly mime: string;
  readonly createdAt: number;
  /** From then on it is as if it were deleted. Absent: it stays. */
  readonly expiresAt?: number;
}

/** What a new file has before its bytes are read. */
export type FileFacts = Omit<KeptFile, "id" | "bytes" | "createdAt">;

/** Bytes from `from` on, and before `to`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Each method rejects with a GatewayError `overloaded` while the files cannot be reached. */
export interface KeptFiles {
  /**
   * @param id in the form of any vendor
   * @param principal who asks; undefined: everybody may, because calls need no key
   * @returns undefined for a file that there is not, or that the caller may not see
   */
  find(id: string, principal: Principal | undefined): Promise<KeptFile | undefined>;
  /** The bytes as they are read. @throws GatewayError `internal`, before the damaged bytes, if they are not those that were written */
  read(file: KeptFile, range?: ByteRange): AsyncIterable<Uint8Array>;
  /**
   * Keeps a file. If `bytes` throws, or the process ends, there is no file.
   * @param id of {@link createKeptId}, for who must know it before the file is there; absent: a new one
   * @throws what `bytes` throws; GatewayError `file_quota` if the path has no room
   */
  write(facts: FileFacts, bytes: AsyncIterable<Uint8Array>, id?: string): Promise<KeptFile>;
  /** Deletes a file, if there is one. @throws GatewayError `file_in_use` while it is held */
  remove(id: string): Promise<void>;
  /** From now on the file cannot be deleted and does not expire. @param by who holds it: a text that survives restarts */
  hold(id: string, by: string): Promise<void>;
  release(id: string, by: string): Promise<void>;
}

/** On {@link WorkerHost.offers}. Absent where no part keeps files. */
export const keptFiles = new Slot<KeptFiles>();
