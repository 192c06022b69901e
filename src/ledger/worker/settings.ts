/** Settings of the operator for estimates and refusals. */
import type { Nano } from "../money.ts";
import type { Unreleased } from "../policy.ts";
import type { Line } from "./share.ts";

export interface LedgerSettings {
  /** Output that is expected of a model without a known limit, at most. Tokens. */
  maxOutput: number;
  /** Usage that is expected of tools that the provider runs itself: input, and searches. */
  serverTools: { tokens: number; cost: Nano };
  /**
   * The cost of an attempt that was sent and brought nothing back: its input, or all that was held for it. Default: `full` under
   * a hard budget, else `input`.
   */
  assume?: "input" | "full";
  /** Clients see the amounts of budgets. */
  tell: boolean;
  /** Treatment of calls whose share is empty while the keeper cannot be reached. */
  onLoss: "open" | "closed" | "hard-closed";
}

/** With what the keeper says of its store. */
export interface LossSettings extends LedgerSettings {
  /** The store grants nothing to hard budgets before an administrator releases it. */
  unreleased?: Unreleased;
}

/** While the store is not released, hard budgets are closed whatever the operator chose for a keeper that is away. */
export function lossSettings(settings: LedgerSettings, unreleased?: Unreleased): LossSettings {
  if (!unreleased) return settings;
  return { ...settings, unreleased, onLoss: settings.onLoss === "open" ? "hard-closed" : settings.onLoss };
}

/** Whether calls are refused while what is left of a line is not known. */
export function isClosed({ unit, mode }: Pick<Line, "unit" | "mode">, { onLoss }: LedgerSettings): boolean {
  if (onLoss === "open") return false;
  return onLoss === "closed" || (unit === "money" && mode === "hard");
}

export const DEFAULT_SETTINGS: LedgerSettings = {
  maxOutput: 32_000,
  serverTools: { tokens: 50_000, cost: 100_000_000 },
  tell: true,
  onLoss: "hard-closed",
};
