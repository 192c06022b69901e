/** What the format of a reader could not carry. */
import type { LossCode } from "../../../core/loss.ts";

/** Numbers of losses by their codes. */
export class Losses {
  readonly counts = new Map<LossCode, number>();

  add(code: LossCode): void {
    this.counts.set(code, (this.counts.get(code) ?? 0) + 1);
  }

  get sum(): number {
    return this.counts.values().reduce((sum, count) => sum + count, 0);
  }
}
