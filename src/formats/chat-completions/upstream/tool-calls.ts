/**
 * Tool calls of a stream, in every shape vendors send their fragments: with an index, without one, with
 * one index for all calls; names late, repeated or blank; arguments as text or as an object.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";

/** A call as far as it was told. */
export interface ReadCall {
  /** The upstream's own id; the first one it said. */
  id: string | undefined;
  /** The first non-blank name; empty as long as there is none. */
  name: string;
  kind: "function" | "custom";
  /** Arguments so far. */
  input: string;
  /** How much of them was passed on. */
  passed: number;
  /** The index of its block, once it was opened. */
  block: number | undefined;
  closed: boolean;
  /** Members beside the call that have to come back with it (Gemini's `extra_content`). */
  members?: JsonObject;
}

interface Fragment {
  key: string | undefined;
  id: string | undefined;
  name: string;
  kind: "function" | "custom";
  input: string;
  members?: JsonObject;
}

export class ToolCalls {
  readonly all: ReadCall[] = [];
  readonly #byKey = new Map<string, ReadCall>();

  /** Takes one item of `delta.tool_calls`; gives the call it belongs to. `choice` tells the choices apart. */
  take(item: JsonObject, choice: number): ReadCall {
    const fragment = readFragment(item, choice);
    const call = this.#find(fragment) ?? this.#add(fragment);
    call.id ??= fragment.id;
    call.members ??= fragment.members;
    if (call.name === "") call.name = fragment.name;
    // What comes behind whole arguments belongs to nothing.
    if (!call.closed) call.input += fragment.input;
    return call;
  }

  #find(fragment: Fragment): ReadCall | undefined {
    const { key, id, name } = fragment;
    if (key !== undefined) {
      const known = this.#byKey.get(key);
      return known && !isAnother(known, fragment) ? known : undefined;
    }
    if (id !== undefined) {
      const known = this.all.find((call) => call.id === id);
      if (known || name !== "") return known;
    }
    const last = this.all.at(-1);
    if (name === "") return last;
    // A name without index and id begins a call, unless it only repeats that of the one being written.
    return last && last.name === name && last.input !== "" && !isWhole(last.input) ? last : undefined;
  }

  #add({ key, id, kind }: Fragment): ReadCall {
    const call: ReadCall = { id, name: "", kind, input: "", passed: 0, block: undefined, closed: false };
    this.all.push(call);
    if (key !== undefined) this.#byKey.set(key, call);
    return call;
  }
}

/** An index used again with a new id and a name: servers that send 0 for all. */
function isAnother(known: ReadCall, { id, name }: Fragment): boolean {
  if (id === undefined || known.id === undefined || id === known.id || name === "") return false;
  return name !== known.name || known.input === "" || isWhole(known.input);
}

function readFragment(item: JsonObject, choice: number): Fragment {
  const custom = isObject(item.custom) && !isObject(item.function);
  const body = custom ? item.custom : item.function;
  const said = isObject(body) ? body : {};
  const name = typeof said.name === "string" ? said.name.trim() : "";
  return {
    key: typeof item.index === "number" ? `${choice}:${item.index}` : undefined,
    id: typeof item.id === "string" && item.id !== "" ? item.id : undefined,
    name,
    kind: custom ? "custom" : "function",
    input: inputText(custom ? said.input : said.arguments),
    ...(isObject(item.extra_content) && { members: { extra_content: item.extra_content } }),
  };
}

/** An empty object says nothing: fragments of text may follow it. */
function inputText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value == null || (isObject(value) && Object.keys(value).length === 0)) return "";
  return JSON.stringify(value);
}

/** Whether arguments are a whole JSON object or list: nothing can be added to them. */
export function isWhole(input: string): boolean {
  const last = input.trimEnd().at(-1);
  return (last === "}" || last === "]") && parseJson(input) !== undefined;
}

/** Whether arguments are fit to be executed: JSON, or nothing at all. */
export function isUsable(call: ReadCall): boolean {
  return call.kind === "custom" || call.input.trim() === "" || parseJson(call.input) !== undefined;
}
