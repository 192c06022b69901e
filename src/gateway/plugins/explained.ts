/** What plugins say of a call that is explained and not sent. A fault of a plugin is a part of the explanation. */
import type { CallView } from "../../core/call-view.ts";
import { describeThrown } from "../../core/error-text.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import type { Hooks } from "../../core/plugin.ts";
import { limitText } from "../../core/printable.ts";
import type { LoadedHooks } from "../types.ts";

/** Longest explanation of a plugin. Bytes of JSON. */
const MAX_BYTES = 16_384;
const MAX_FAULT_BYTES = 1_024;

/** Keeps what a hook throws from clients, who may ask for an explanation: only the log gets it. */
export function wrapExplain(
  plugin: string,
  run: NonNullable<Hooks["explain"]>,
  onFault: (message: string, cause: unknown) => void,
): NonNullable<Hooks["explain"]> {
  return (call) => {
    try {
      return run(call);
    } catch (cause) {
      onFault(`plugin ${plugin}: its explain hook failed`, cause);
      throw new Error("the log of weir has the details");
    }
  };
}

/** @returns the explanations by the name of the plugin; undefined if none has anything to say */
export function explainedBy(hooks: readonly LoadedHooks[], call: CallView): JsonObject | undefined {
  const said = hooks.flatMap((hook): [string, JsonObject][] => {
    if (!hook.explain) return [];
    try {
      const given: unknown = hook.explain(call);
      return given === undefined ? [] : [[hook.plugin, checked(given)]];
    } catch (cause) {
      const error = limitText(
        `its explain hook failed: ${describeThrown(cause).split("\n")[0]}`,
        MAX_FAULT_BYTES,
      );
      return [[hook.plugin, { error }]];
    }
  });
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** @throws Error for what is no object of JSON, or too large */
function checked(given: unknown): JsonObject {
  if (given instanceof Promise) {
    given.catch(() => {});
    throw new Error("it must return an object and no promise");
  }
  const text = isObject(given) ? JSON.stringify(given) : undefined;
  const copy = text === undefined ? undefined : parseJson(text);
  if (text === undefined || !isObject(copy)) throw new Error("it must return an object or undefined");
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) throw new Error(`it returned ${bytes} bytes of JSON, more than ${MAX_BYTES}`);
  return copy;
}
