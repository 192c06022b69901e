/** What the parts of witness in the workers and in the keeper tell each other. */
import type { Draft } from "./observation.ts";
import type { WitnessSettings } from "./section.ts";

export interface LookAsk {
  readonly models: readonly string[];
}

/** The most that a look may cost. Nano-dollars. */
export interface LookBound {
  readonly calls: number;
  /** Absent: the price of a model is not known. */
  readonly cost?: number;
  /** Models whose price is not known. */
  readonly unpriced: readonly string[];
}

export type WitnessDown =
  | { readonly number: number; readonly bound: LookAsk }
  | { readonly number: number; readonly look: LookAsk & Pick<Draft, "by"> };

export type WitnessAnswer =
  | { readonly bound: LookBound }
  | { readonly drafts: readonly Draft[] }
  /** A sentence. */
  | { readonly fault: string };

export type WitnessUp =
  { readonly settings: WitnessSettings } | { readonly number: number; readonly answer: WitnessAnswer };
