/** The books as the gateway uses them: admission before an attempt, settlement after it, one record for each call. */
import type { Attempt, Call } from "./call.ts";
import type { Units } from "./events.ts";
import type { JsonObject } from "./json.ts";
import type { Principal } from "./principal.ts";
import type { Target } from "./provider.ts";
import type { PromptSections } from "./prompt-sections.ts";
import type { RequestSize } from "./request-size.ts";
import { Slot } from "./slot.ts";
import type { Standing } from "./standing.ts";

export type { RequestSize } from "./request-size.ts";

/**
 * What is taken off the prices of a call, from 0 to 1; `bulk`: the call goes into a batch of its provider, at the price of the price
 * book for that. Noted on the call before its first attempt; absent: nothing.
 */
export const DISCOUNT = new Slot<number | "bulk">();

/**
 * An earlier process had held for the same request, and has ended: what the books assume for that is held for this call.
 * `lost`: the call only books what the earlier one may have cost, and no rate limit counts it once more. Noted before the first
 * attempt.
 */
export const HELD_BEFORE = new Slot<"lost" | "goes on">();

/** Work of weir or of a program that is charged by units: it has no tokens. */
export interface WorkTerms {
  /** The most that it uses. */
  readonly units: Units;
  /** Dollars a unit, in place of the prices of the config. */
  readonly price?: Units;
}

/** The purpose of an attempt. Both methods are called only where they decide something. */
export interface Admitted {
  /** Length of the request. */
  readonly bytes: number;
  /** @param target of the attempt: providers charge in different units */
  size(target: Target): RequestSize;
  /** Identifies the conversation; empty if nothing does. */
  affinity(): string;
  /** Present where the attempt is not one to get a request answered. */
  readonly work?: WorkTerms;
}

/** The prompt of a request. */
export interface PromptSource {
  /** Identifies the conversation; empty if nothing does. */
  affinity(): string;
  sections(): PromptSections | undefined;
}

/** What a request may cost at most. Amounts are nano-dollars. */
export interface CostBound {
  /** Undefined: no price is known, and a hard budget would refuse the request. */
  readonly cost: number | undefined;
  /** Ids of the hard budgets that would count it. */
  readonly budgets: readonly string[];
}

/** A hard budget as it is now. Amounts are nano-dollars. */
export interface BudgetLeft {
  readonly name: string;
  /** The limit of this window without what is spent and held. */
  readonly left: number;
  /** Whether clients see amounts of budgets. */
  readonly isTold: boolean;
}

/** All methods are synchronous while the worker's own shares suffice. */
export interface Ledger {
  /**
   * Reserves what an attempt may cost and use. Called once for each attempt, before anything is sent. While the answer
   * streams, the reservation grows with the output (`Attempt.noteOutput`); if it cannot, the call is aborted.
   * @throws LedgerRefusal if a budget, a limit, a scope or an unknown price does not permit the attempt
   */
  admit(attempt: Attempt, admitted: Admitted): void | Promise<void>;
  /**
   * Notes the sections of the prompt, while the provider works on it: why a cached prefix was not read is found by them.
   * Called for prompts that a provider may cache.
   */
  notePrompt?(attempt: Attempt, prompt: PromptSource): void;
  /** The amounts that `admit` would hold of which budgets and limits, and the price, for `explain`. Holds nothing. */
  foresee?(attempt: Attempt, admitted: Admitted): JsonObject;
  /** The most that an attempt may cost. Holds nothing. @param outputShare the share of the output that is expected, from 0 to 1 */
  bound?(attempt: Attempt, admitted: Pick<Admitted, "size">, outputShare: number): CostBound;
  /** Hard budgets by their ids, without those on sessions. @throws GatewayError as {@link describeKey} */
  budgetsLeft?(): Promise<ReadonlyMap<string, BudgetLeft>>;
  /**
   * A key, the limits and budgets that count its calls, and what it has used, for the client that has the key.
   * @throws GatewayError `overloaded` if the figures cannot be read
   */
  describeKey?(principal: Principal): Promise<JsonObject>;
  /**
   * What a caller has used of its budgets, in numbers. @returns undefined if clients see no amounts
   * @throws GatewayError as {@link describeKey}
   */
  standing?(principal: Principal): Promise<Standing | undefined>;
  /** How far a running call is, and what it has cost, for operators: a `RunningCall` of ledger/messages.ts with `cost`. */
  soFar?(call: Call): object;
  /** Nano-dollars that attempts were charged so far: all of it when the record of their call is written. */
  charged?(attempts: readonly Attempt[]): number;
  /** Counts a call that reaches no provider for the rate limits on calls. It is not refused: it costs nothing. */
  count?(call: Call): void;
  /** The usage of an attempt without admission is charged all the same: nothing is held for it. */
  charge(attempt: Attempt): void;
  /** Books what the attempt cost, and frees the rest of its reservation. Further calls for the same attempt do nothing. */
  settle(attempt: Attempt): void;
  /** Settles the attempts of a call that are not, and writes its record. Called once, at the end of the call. */
  close(call: Call): void;
}

/** Admits everything and keeps nothing. */
export const NO_LEDGER: Ledger = {
  admit() {},
  charge() {},
  settle() {},
  close() {},
};
