/** Guards tools that weir runs for one call: their arguments, their results, and whether they may run. */
import type { JsonObject } from "../../../core/json.ts";
import type { HeldBack, ToolScreen } from "../../../core/tool-screen.ts";
import type { Guard } from "../guard.ts";
import type { CallMap } from "../replace/call-map.ts";
import type { Verdicts } from "../verdicts.ts";
import type { Taint } from "./taint.ts";

interface Guarded {
  readonly guards: readonly Guard[];
  readonly map: CallMap;
  readonly verdicts: Verdicts;
  readonly taint: Taint | undefined;
}

export class Screen implements ToolScreen {
  readonly #of: Guarded;

  constructor(of: Guarded) {
    this.#of = of;
  }

  /** Whether anything can happen to tools. */
  get isNeeded(): boolean {
    return this.#of.guards.length > 0;
  }

  heldBack(tool: string): HeldBack | undefined {
    return this.#of.taint?.heldBack(tool);
  }

  arguments(_tool: string, given: JsonObject): JsonObject {
    return given;
  }

  result(_tool: string, given: JsonObject): JsonObject {
    this.#of.taint?.hasResult();
    return given;
  }
}
