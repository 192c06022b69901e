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
  | { readonly settings: WitnessSettings }
  | { readonly number: number; readonly answer: WitnessAnswer }
  | { readonly traffic: readonly TrafficSum[] };

/** What answers to real calls said of themselves, in one hour. */
export interface TrafficSum {
  readonly model: string;
  /** Beginning of the hour, milliseconds since 1970. */
  readonly hour: number;
  readonly calls: number;
  /** Bytes of requests, and input tokens of their answers. */
  readonly bytes: number;
  readonly input: number;
  /** Counts by name. */
  readonly names: Readonly<Record<string, number>>;
  readonly fingerprints: Readonly<Record<string, number>>;
}
