/** An account of which workers are granted shares: a window of a budget, or a unit of a rate limit. */
import type { Refusal } from "../../ledger/messages.ts";

/**
 * Who has granted what a worker claims: this keeper, an earlier one whose grants are not accounted for yet, or an earlier one
 * whose grants were assumed to be spent meanwhile.
 */
export type ClaimSource = "here" | "earlier" | "too-late";

export interface Account {
  readonly id: string;
  /** The shares of workers, by life: granted, and neither settled nor returned. */
  readonly shares: Map<string, number>;
  /** When a share was last granted or used; monotonic milliseconds. */
  usedAt: number;
  /** The amount that can be granted at once. */
  available(): number;
  /** The least that must be available for a call that needs `need`. */
  least(need: number): number;
  /**
   * Grants at least {@link least} of `need`, which must be available.
   * @param spare whether more than the need may be granted, so that the worker asks less often
   */
  grant(life: string, need: number, spare: boolean): number;
  /** Takes back a part of a share. Negative after an overrun. */
  giveBack(life: string, amount: number): void;
  /** A worker says after a reconnection what it has. @returns what of it is no longer assumed to be spent */
  claim(life: string, amount: number, from: ClaimSource): number;
  /**
   * A worker is gone.
   * @param left what it had not used of its share, as far as it is known
   * @returns what must be assumed to be spent
   */
  bury(life: string, left: number): number;
  refusal(need: number): Refusal;
}
