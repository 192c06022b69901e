/** Compares what a server lists with what was approved of it. */
import type { JsonObject } from "../../../core/json.ts";
import { nameOf, pinOf } from "./canonical.ts";
import type { PinMode } from "./declarations.ts";

/** The approved definitions of one server: hashes by the names of its tools. */
export type ServerPins = Readonly<Record<string, string>>;
/** The same of all servers, by their names. A server that is missing was never seen. */
export type ApprovedPins = Readonly<Record<string, ServerPins>>;

export interface PinChange {
  readonly tool: string;
  readonly kind: "new" | "changed" | "gone";
  /** Absent for a tool that is gone. */
  readonly definition?: JsonObject;
}

/** The pins of a list. Of several tools with one name the first counts. */
export function pinsOf(definitions: readonly JsonObject[]): ServerPins {
  const pins = new Map<string, string>();
  for (const definition of definitions) {
    const name = nameOf(definition);
    if (!pins.has(name)) pins.set(name, pinOf(definition));
  }
  return Object.fromEntries(pins);
}

/**
 * What differs from the pins. A tool with another name is one that is gone and one that is new; the order of tools and of members
 * makes no difference.
 */
export function changesIn(definitions: readonly JsonObject[], pins: ServerPins): PinChange[] {
  const listed = new Set<string>();
  const changes: PinChange[] = [];
  for (const definition of definitions) {
    const tool = nameOf(definition);
    if (listed.has(tool)) continue;
    listed.add(tool);
    if (!Object.hasOwn(pins, tool)) changes.push({ tool, kind: "new", definition });
    else if (pins[tool] !== pinOf(definition)) changes.push({ tool, kind: "changed", definition });
  }
  for (const tool of Object.keys(pins)) if (!listed.has(tool)) changes.push({ tool, kind: "gone" });
  return changes;
}

/**
 * What clients may see of a list, and call.
 * @param pins those of the server; undefined: this list is the first one
 */
export function shown(
  definitions: readonly JsonObject[],
  pins: ServerPins | undefined,
  mode: PinMode,
): readonly JsonObject[] {
  if (mode !== "approve") return definitions;
  const approved = pins ?? pinsOf(definitions);
  const isShown = (definition: JsonObject) => {
    const name = nameOf(definition);
    return Object.hasOwn(approved, name) && approved[name] === pinOf(definition);
  };
  return definitions.every(isShown) ? definitions : definitions.filter(isShown);
}
