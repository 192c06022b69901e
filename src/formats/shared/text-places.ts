/** Finds the texts of requests and answers by the tables of the formats. */
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import type { AnswerText, Text, TextKind, TextPlace, TextPlaces } from "../../core/text-places.ts";
import { type JsonNode, readJson } from "../../stream/json-nodes.ts";

/** What a table says of a value. */
export type Rule = Leaf | Level;

/** All strings of a value, at any depth. */
export interface Leaf {
  /** Why they are no texts. */
  readonly none?: string;
  /** Absent: that of the levels around it. */
  readonly kind?: TextKind;
  readonly fixed?: Text["fixed"];
  readonly isJson?: true;
  /** In an event it is a piece of the channel of this name. */
  readonly piece?: string;
}

/** An object or a list of objects. A string in its place is a text of the level's kind. A member without a rule is `other`. */
export interface Level extends Pick<Leaf, "kind" | "piece"> {
  readonly members: Readonly<Record<string, Rule>>;
  /** What the object says of the texts below it. @param read a member that is neither an object nor a list */
  readonly says?: (read: (name: string) => Json | undefined) => Said | undefined;
}

/** What an object says of the texts below it whose own rule does not say it. */
export interface Said {
  readonly kind?: TextKind;
  readonly role?: string;
  readonly fixed?: Text["fixed"];
  readonly isJson?: boolean;
  /** Tells the channels of this object from those of others. */
  readonly channel?: string;
}

/** Strings that hold no text of anyone. */
const none = (reason: string): Leaf => ({ none: reason });
export const WORD = none("a word of the format");
export const ID = none("an id of a model, a vendor or a tool call");
export const NUMBER = none("no string");

/** A text of the kind that the levels around it say. */
export const TEXT: Leaf = {};
export const NAME: Leaf = { kind: "name" };
export const MEDIA: Leaf = { kind: "media" };
export const OTHER: Leaf = { kind: "other" };
export const DECLARATION: Leaf = { kind: "declaration" };
export const ARGUMENTS: Leaf = { kind: "tool-arguments" };
export const SEALED: Leaf = { kind: "reasoning", fixed: "encrypted" };

/** One rule for several members, separated by white space. */
export function each(rule: Rule, members: string): Record<string, Rule> {
  return Object.fromEntries(members.split(/\s+/).map((name) => [name, rule]));
}

interface Options {
  request: Rule;
  answer: Rule;
  stopped: TextPlaces["stopped"];
  /** Another spelling of a member's name in requests. */
  spell?: (name: string) => string;
}

/** The places of a format, with their tables. */
export interface TabledPlaces extends TextPlaces {
  readonly rules: { readonly request: Rule; readonly answer: Rule };
}

export function textPlaces({ request, answer, stopped, spell }: Options): TabledPlaces {
  return {
    rules: { request, answer },
    *request(bytes) {
      for (const { node, channel: _, ...text } of walk(request, readJson(bytes), {}, "", spell)) {
        const { start, end } = node;
        yield { ...text, start, end, read: () => node.scalar() as string } satisfies TextPlace;
      }
    },
    *answer(body) {
      for (const { node, channel: _, ...text } of walk(answer, valueNode(body), {}, ""))
        yield { ...text, get: () => node.scalar() as string, set: node.set } satisfies AnswerText;
    },
    *event(event) {
      for (const { node, ...text } of walk(answer, valueNode(event), {}, ""))
        yield { ...text, get: () => node.scalar() as string, set: node.set } satisfies AnswerText;
    },
    stopped,
  };
}

/** A text of a tree. */
interface Found<Node> extends Omit<TextPlace, "start" | "end" | "read"> {
  readonly channel?: string;
  readonly node: Node;
}

type Tree<Node> = JsonNode & { entries(): Iterable<readonly [string, Node]>; items(): Iterable<Node> };

function* walk<Node extends Tree<Node>>(
  rule: Rule,
  node: Node,
  around: Said,
  path: string,
  spell?: (name: string) => string,
): Generator<Found<Node>> {
  switch (node.type) {
    case "string": {
      const found = foundBy(rule, around, path);
      if (found) yield { ...found, node };
      return;
    }
    case "array": {
      let index = 0;
      for (const item of node.items()) yield* walk(rule, item, around, `${path}[${index++}]`, spell);
      return;
    }
    case "object": {
      if ("none" in rule) return;
      const within = "members" in rule ? saidBy(rule, node, around, spell) : around;
      for (const [name, value] of node.entries())
        yield* walk(ruleOf(rule, name, spell), value, within, path === "" ? name : `${path}.${name}`, spell);
    }
  }
}

function ruleOf(rule: Rule, name: string, spell?: (name: string) => string): Rule {
  if (!("members" in rule)) return rule;
  const { members } = rule;
  if (Object.hasOwn(members, name)) return members[name]!;
  const other = spell?.(name);
  return other !== undefined && Object.hasOwn(members, other) ? members[other]! : OTHER;
}

function foundBy(rule: Rule, around: Said, path: string): Omit<Found<never>, "node"> | undefined {
  if ("none" in rule) return undefined;
  const leaf: Leaf = rule;
  const { piece, kind = around.kind ?? "text" } = leaf;
  const fixed = leaf.fixed ?? (leaf.kind === undefined ? around.fixed : undefined);
  const isJson = leaf.isJson ?? (leaf.kind === undefined ? around.isJson : undefined);
  return {
    kind,
    path,
    ...(around.role !== undefined && { role: around.role }),
    ...(fixed && { fixed }),
    ...(isJson && { isJson }),
    ...(piece !== undefined && { channel: `${around.channel ?? ""}/${piece}` }),
  };
}

function saidBy(
  { kind, says }: Level,
  node: Tree<JsonNode>,
  around: Said,
  spell = (name: string) => name,
): Said {
  const own = kind === undefined ? around : { ...around, kind };
  if (!says) return own;
  const said = says((name) => {
    for (const [member, value] of node.entries())
      if (member === name || spell(member) === name) return value.scalar();
    return undefined;
  });
  if (!said) return own;
  const channel = said.channel === undefined ? around.channel : `${around.channel ?? ""}/${said.channel}`;
  return { ...own, ...said, ...(channel !== undefined && { channel }) };
}

interface ValueNode extends Tree<ValueNode> {
  set(text: string): void;
}

/** A parsed value. @param set replaces it */
function valueNode(value: Json | undefined, set: (text: string) => void = () => {}): ValueNode {
  const type = Array.isArray(value)
    ? "array"
    : isObject(value)
      ? "object"
      : typeof value === "string"
        ? "string"
        : "other";
  let current = value;
  return {
    type,
    set: (text) => set((current = text)),
    scalar: () => (type === "array" || type === "object" ? undefined : (current as Json | undefined)),
    *entries() {
      const object = value as JsonObject;
      for (const name in object) yield [name, valueNode(object[name], (text) => (object[name] = text))];
    },
    *items() {
      const list = value as Json[];
      for (let index = 0; index < list.length; index++)
        yield valueNode(list[index], (text) => (list[index] = text));
    },
  };
}
