/** A judge of texts that a plugin brings. The operator's config says where it looks and what follows from its verdicts. */
import type { TextKind } from "./text-places.ts";

export interface PluginGuard {
  /** As the option `plugin` of a guard in weir.yaml names it. */
  name: string;
  /** Finds values by their form. At once: the process waits. Throws, or finds what is not there: there is no verdict. */
  find?(text: string): readonly PluginFound[];
  /**
   * For a text that goes on: the smallest position from which a value may still begin or grow. Absent: the guard judges whole
   * answers only.
   */
  reach?(text: string): number;
  /** Asks somebody. @param signal aborts when the time of the guard is over, or the call has ended */
  ask?(batch: PluginBatch, signal: AbortSignal): Promise<PluginVerdict>;
}

/** A value in a text. Positions are UTF-16 units; `end` is exclusive. */
export interface PluginFound {
  start: number;
  end: number;
  /** Such as `PERSON`. */
  kind: string;
  /** What stands in its place; absent: what the config says. */
  replacement?: string;
}

/** All that a guard reads of a request or of an answer, or the next pieces of an answer. */
export interface PluginBatch {
  phase: "input" | "output" | "tool";
  call: { id: string; key?: string; path: string; model: string; format: string; stream: boolean };
  texts: readonly { kind: TextKind; role?: string; path: string; text: string; from?: number }[];
  /** No more of the answer follows. */
  final: boolean;
}

export interface PluginVerdict {
  verdict: "pass" | "block" | "flag";
  /** Why, in a word for records and messages. */
  code?: string;
  /** `index`: of the text. */
  findings?: readonly (PluginFound & { index: number })[];
}
