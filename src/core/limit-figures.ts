/** The rate limits and budgets of a call, as its client may see them in response headers. */

/** The unit of a rate limit. */
export type RateKind = "requests" | "tokens" | "input-tokens" | "output-tokens";

export interface RateFigure {
  limit: number;
  /** Never negative. */
  remaining: number;
  /** Until the whole limit is free again. Milliseconds. */
  resetMs: number;
}

export interface BudgetFigure {
  name: string;
  /** Dollars for people: `$0.9997`; absent if clients see no amounts. */
  left?: string;
  /** When its window ends. Milliseconds since 1970; absent for a budget without windows. */
  resetsAt?: number;
}

/** For each kind the limit that is nearest to its end. */
export interface LimitFigures {
  rates: Readonly<Partial<Record<RateKind, RateFigure>>>;
  budget?: BudgetFigure;
  /** Other calls get this object too, so that what is made of it is made once. */
  forMany: boolean;
}

/** Where the response headers of a call get their figures from. */
export interface LimitSource {
  /** @returns undefined if no limit and no budget applies */
  figures(): LimitFigures | undefined;
}

/** How a client format writes rate limits into response headers. */
export interface RateHeaders {
  /** Beginning of the names: the headers of a provider get `x-weir-upstream-` in front where weir has limits of its own. */
  prefix: string;
  write(rates: LimitFigures["rates"]): Record<string, string>;
}
