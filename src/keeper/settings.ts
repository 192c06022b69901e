/** The first message to a keeper in a thread or process of its own, and its first answer. */
import type { AdminSettings } from "../operator/settings.ts";

/** Path of a database in memory, which ends with its thread. */
export const IN_MEMORY = ":memory:";

/** Whether a store is a PostgreSQL server, which several gateways can use. */
export function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url);
}

export interface KeeperSettings {
  /** Absent: weir stores no answers. */
  answers?: AnswerSettings;
  books?: StoreSettings;
  /** Absent: no admin API. */
  admin?: AdminSettings;
}

/** The store of the books. */
export interface StoreSettings {
  /** Path of a file, {@link IN_MEMORY}, or the URL of a PostgreSQL server. */
  url: string;
  /** The state folder, for what the keeper writes beside its store; absent if everything stays in memory. */
  folder?: string;
  /** Wraps the keys of sealed texts. Absent: the key of a file in the folder does. */
  sealKey?: string;
  /** Keys that did so before. */
  oldSealKeys?: readonly string[];
  /** Folder of the files that workers and keeper map into memory; absent where there is none. */
  cells?: string;
  /** Several gateways use this store. */
  cluster: boolean;
  /** Maximum time between a call and the commit of its record, milliseconds. */
  syncMs: number;
  /** A node that is silent for this time loses its grants, milliseconds. */
  leaseMs: number;
}

export interface AnswerSettings {
  /** The file of the answers, {@link IN_MEMORY}, or the URL of a PostgreSQL server. */
  path: string;
  limits: Limits;
}

export interface Limits {
  /** Maximum size of the items and the body of one answer before compression. Bytes. */
  answerBytes: number;
  /** Maximum number of input items of one answer. */
  items: number;
  /** Maximum size of all answers in the file. weir deletes the answers that expire first beyond it. Bytes. */
  fileBytes: number;
}

/** The first message of a keeper: whether it could open the file of the answers. */
export interface KeeperHello {
  hello: true;
  /** One sentence; absent if the file is open. */
  fault?: string;
}
