/**
 * Guards tools that weir runs for one call. A server gets the values of the caller in place of tokens, unless a guard looks at
 * tools; a result comes to the model as texts of a request do.
 */
import type { JsonObject } from "../../../core/json.ts";
import type { Noted } from "../../../core/slot.ts";
import type { HeldBack, ToolScreen } from "../../../core/tool-screen.ts";
import type { Guard } from "../guard.ts";
import type { Passing } from "../pass/passing.ts";
import { applyAll, assertRead } from "../pass/request.ts";
import type { CallMap } from "../replace/call-map.ts";
import { Tokens } from "../replace/restore.ts";
import { textsOf, withJsonTexts } from "./json-texts.ts";
import { Rerouted } from "./route.ts";
import type { Taint } from "./taint.ts";

interface Options {
  readonly taint?: Taint | undefined;
  /** A guard leads the call to another model: its next turns go there. */
  reroute(guard: Guard): Promise<void>;
  /** The map of the call has more values. */
  learned?(): void;
}

export class Screen implements ToolScreen {
  readonly #passing: Passing;
  readonly #options: Options;

  constructor(passing: Passing, options: Options) {
    this.#passing = passing;
    this.#options = options;
  }

  /** The values of the call, with their tokens. */
  get map(): CallMap {
    return this.#passing.map;
  }

  /** The map has more values. */
  learn(): void {
    this.#options.learned?.();
  }

  heldBack(tool: string): HeldBack | undefined {
    return this.#options.taint?.heldBack(tool);
  }

  noteFor(work: Noted): void {
    this.#passing.verdicts.noteFor(work);
  }

  async arguments(tool: string, given: JsonObject): Promise<JsonObject> {
    const { map } = this.#passing;
    const tokens = new Tokens(map.values);
    const texts = textsOf(given, "tool-arguments", `${tool}.arguments`);
    if (map.size > 0) for (const one of texts) one.text = tokens.restore(one.text);
    const guards = this.#passing.guards.filter(({ readsTools }) => readsTools);
    await this.#apply(guards, texts);
    return withJsonTexts(given, texts) as JsonObject;
  }

  async result(tool: string, given: JsonObject): Promise<JsonObject> {
    this.#options.taint?.hasResult();
    const texts = textsOf(given, "tool-result", tool);
    await this.#apply(this.#passing.guards, texts);
    return withJsonTexts(given, texts) as JsonObject;
  }

  async #apply(guards: readonly Guard[], texts: ReturnType<typeof textsOf>): Promise<void> {
    const beside: Promise<void>[] = [];
    const passing = { ...this.#passing, beside };
    const { size } = passing.map;
    for (const { place } of texts) assertRead(place, { ...passing, guards });
    let left = guards;
    for (;;)
      try {
        await applyAll(left, { texts, now: () => undefined }, passing);
        await Promise.all(beside);
        if (passing.map.size > size) this.learn();
        return;
      } catch (thrown) {
        if (!(thrown instanceof Rerouted)) throw thrown;
        const { guard, findings } = thrown;
        for (const { path, ...value } of findings) passing.verdicts.note(guard, "input", value, path);
        await this.#options.reroute(guard);
        left = left.slice(left.indexOf(guard) + 1);
      }
  }
}
