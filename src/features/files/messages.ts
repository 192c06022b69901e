/** What the part in a worker and the part in the keeper say to each other. JSON: bytes never cross. */
import type { KeptFile } from "../../core/kept-files.ts";

/** A file with what only this feature needs. */
export interface FileRow extends KeptFile {
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  /** The place of its bytes: a folder or a bucket. */
  readonly keptIn: string;
}

/** Who asks: what is shared with it. Absent members do not match anything. */
export interface Owner {
  readonly path: string;
  readonly key?: string;
  readonly person?: string;
}

/** Whose files a question is about. */
export interface Seer extends Owner {
  /** Files of other keys of the same path too. */
  readonly seesPath: boolean;
}

/** What a file that comes in parts will have. */
export interface UploadFacts {
  readonly name: string;
  readonly purpose: string;
  readonly mime: string;
  /** How long it is kept once it is whole. Milliseconds. */
  readonly keepMs: number;
}

export interface UploadRow extends Owner {
  readonly id: string;
  /** `parts`: in any order (OpenAI). `resumable`: one after another (Google); who knows the id may go on. */
  readonly kind: "parts" | "resumable";
  /** -1: unknown until it ends. */
  readonly bytes: number;
  readonly facts: UploadFacts;
  /** Bytes of its parts. */
  readonly received: number;
  readonly state: "pending" | "completed" | "cancelled";
  /** Id of the file that it became. */
  readonly file?: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface PartRow {
  readonly id: string;
  readonly upload: string;
  readonly bytes: number;
  readonly keptIn: string;
  readonly createdAt: number;
}

export interface ListAsk {
  /** Absent: calls need no key, and every file counts. */
  readonly seer?: Seer;
  readonly purpose?: string;
  /** Ids of which only the files are wanted. */
  readonly ids?: readonly string[];
  readonly isAscending: boolean;
  /** Behind this id in the order; with `isBefore` in front of it, still in the order. */
  readonly from?: string;
  readonly isBefore?: boolean;
  readonly limit: number;
}

/** A question; its one member says what it is about. */
export type FilesAsk =
  /** The key of a path, and what its files use. */
  | { readonly open: string }
  /** `of`: the upload that ends with it. The answer has its parts. */
  | { readonly add: FileRow; readonly quota: number; readonly of?: string }
  | { readonly find: string; readonly seer?: Seer }
  | { readonly list: ListAsk }
  | { readonly remove: string }
  | { readonly hold: string; readonly by: string }
  | { readonly release: string; readonly by: string }
  | { readonly begin: UploadRow }
  | { readonly upload: string }
  /** `at`: how many bytes must have come before; absent: any number. `most`: how many may have come then. */
  | { readonly addPart: PartRow; readonly at?: number; readonly most: number; readonly quota: number }
  | { readonly cancel: string };

/**
 * `quota`: the path has no room. `held`: a file is held. `none`: there is none. `state`: an upload has ended. `length`: a part is too
 * long, or does not follow the last one. `sealed`: the key of the path cannot be opened.
 */
export type Refusal = "quota" | "held" | "none" | "state" | "length" | "sealed";

export interface FilesAnswer {
  /** 32 bytes in base64. */
  readonly key?: string;
  readonly used?: number;
  readonly files?: readonly FileRow[];
  readonly hasMore?: boolean;
  readonly upload?: UploadRow;
  /** In the order in which they came. */
  readonly parts?: readonly PartRow[];
  /** Why it was not done. */
  readonly refused?: Refusal;
}

/** What of the config the keeper needs. */
export interface FilesSettings {
  /** See the section. */
  readonly where: string;
}

export type FilesUp =
  { readonly settings: FilesSettings | null } | { readonly number: number; readonly ask: FilesAsk };

export type FilesDown =
  /** The folder in which files lie whose place is the state folder. */
  { readonly folder: string } | { readonly number: number; readonly answer: FilesAnswer | null };
