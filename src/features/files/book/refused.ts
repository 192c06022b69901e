/** Why a change is not made: thrown inside of its transaction, so that nothing of it stays. */
import type { FilesAnswer, Refusal } from "../messages.ts";

export class Refused extends Error {
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    super(reason);
    this.reason = reason;
  }

  /** @returns what the work returns, or why it was refused */
  static async caught(work: () => Promise<FilesAnswer>): Promise<FilesAnswer> {
    try {
      return await work();
    } catch (thrown) {
      if (thrown instanceof Refused) return { refused: thrown.reason };
      throw thrown;
    }
  }
}
