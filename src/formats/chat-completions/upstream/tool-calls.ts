/**
 * Assembles the tool calls of a stream from the fragments of all vendors: with an index, without one, or with one index
 * for all calls; with late, repeated or blank names; with arguments as text or as an object.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { thoughtSignature } from "../reasoning.ts";

/** A call as far as it has arrived. */
export interface ReadCall {
  /** The first id that the provider sent. */
  id: string | undefined;
  /** The first non-blank name; empty until it arrives. */
  name: string;
  kind: "function" | "custom";
  /** Arguments so far. */
  input: string;
  /** Length of the part that was passed on. */
  passed: number;
  /** The index of its block once it is open. */
  block: number | undefined;
  closed: boolean;
  /** Google's thought signature, which must return with the call. */
  signature?: string;
}

interface Fragment {
  key: string | undefined;
  id: string | undefined;
  name: string;
  kind: "function" | "custom";
  input: string;
  signature?: string;
}

export class ToolCalls {
  readonly all: ReadCall[] = [];
  readonly #byKey = new Map<string, ReadCall>();

  /** Takes one item of `delta.tool_calls` and returns its call. @param choice index of the choice */
  take(item: JsonObject, choice: number): ReadCall {
    const fragment = readFragment(item, choice);
    const call = this.#find(fragment) ?? this.#add(fragment);
    call.id ??= fragment.id;
    call.signature ??= fragment.signature;
    if (call.name === "") call.name = fragment.name;
    // Fragments after complete arguments are ignored.
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
    // A name without index and id begins a call, unless it repeats the name of an incomplete one.
    return last && last.name === name && last.input !== "" && !isComplete(last.input) ? last : undefined;
  }

  #add({ key, id, kind }: Fragment): ReadCall {
    const call: ReadCall = { id, name: "", kind, input: "", passed: 0, block: undefined, closed: false };
    this.all.push(call);
    if (key !== undefined) this.#byKey.set(key, call);
    return call;
  }
}

/** Whether an index is reused for another call: some servers send 0 for all calls. */
function isAnother(known: ReadCall, { id, name }: Fragment): boolean {
  if (id === undefined || known.id === undefined || id === known.id || name === "") return false;
  return name !== known.name || known.input === "" || isComplete(known.input);
}

function readFragment(item: JsonObject, choice: number): Fragment {
  const custom = isObject(item.custom) && !isObject(item.function);
  const body = custom ? item.custom : item.function;
  const given = isObject(body) ? body : {};
  const name = typeof given.name === "string" ? given.name.trim() : "";
  return {
    key: typeof item.index === "number" ? `${choice}:${item.index}` : undefined,
    id: typeof item.id === "string" && item.id !== "" ? item.id : undefined,
    name,
    kind: custom ? "custom" : "function",
    input: inputText(custom ? given.input : given.arguments),
    signature: thoughtSignature(item),
  };
}

/** An empty object counts as no arguments, because fragments of text may follow it. */
function inputText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value == null || (isObject(value) && Object.keys(value).length === 0)) return "";
  return JSON.stringify(value);
}

/** Whether arguments are a complete JSON object or list. */
export function isComplete(input: string): boolean {
  const last = input.trimEnd().at(-1);
  return (last === "}" || last === "]") && parseJson(input) !== undefined;
}

/** Whether a client can run the call: its arguments are JSON or empty. */
export function isUsable(call: ReadCall): boolean {
  return call.kind === "custom" || call.input.trim() === "" || parseJson(call.input) !== undefined;
}
