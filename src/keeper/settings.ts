/** The first message to a keeper in a thread or process of its own, and its first answer. */

/** Path of a database in memory, which ends with its thread. */
export const IN_MEMORY = ":memory:";

export interface KeeperSettings {
  /** The file of the answers, or {@link IN_MEMORY}. */
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

/** The first message of a keeper: whether it could open its file. */
export interface Hello {
  hello: true;
  /** One sentence; absent if the file is open. */
  fault?: string;
}
