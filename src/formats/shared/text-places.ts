/** Finds the texts of requests and answers by the tables of the formats. */
import type { Json, JsonObject } from "../../core/json.ts";
import type { AnswerText, Text, TextKind, TextPlace, TextPlaces } from "../../core/text-places.ts";
import { type BytesNode, LEAST_DIGITS, mayBeValue, numberAt, readJson } from "../../stream/json-nodes.ts";

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
  readonly isReference?: true;
  /** It is the name of a tool that is called. */
  readonly isCall?: true;
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
  /** The call below it has run, or who answers runs it. */
  readonly hasRun?: boolean;
  /** In a stream, several events have pieces of the call below it. */
  readonly isPieced?: true;
}

/** Strings that hold no text of anyone. */
const none = (reason: string): Leaf => ({ none: reason });
export const WORD = none("a word of the format");
export const ID = none("an id of a model, a vendor or a tool call");
export const NUMBER = none("no string");

/** A text of the kind that the levels around it say. */
export const TEXT: Leaf = {};
export const NAME: Leaf = { kind: "name" };
/** The name of a tool, where it is declared and where it is called. */
export const TOOL_NAME: Leaf = { isReference: true };
export const CALLED_NAME: Leaf = { kind: "name", isReference: true };
export const CALL_NAME: Leaf = { ...CALLED_NAME, isCall: true };
export const MEDIA: Leaf = { kind: "media" };
export const OTHER: Leaf = { kind: "other" };
export const DECLARATION: Leaf = { kind: "declaration" };
export const ARGUMENTS: Leaf = { kind: "tool-arguments" };
export const SEALED: Leaf = { kind: "reasoning", fixed: "encrypted" };

/** One rule for several members, separated by white space. */
export function each(rule: Rule, members: string): Record<string, Rule> {
  return Object.fromEntries(members.split(/\s+/).map((name) => [name, rule]));
}

interface Options extends Pick<TextPlaces, "stopped" | "closed" | "independent"> {
  request: Rule;
  answer: Rule;
  /** Another spelling of a member's name in requests. */
  spell?: (name: string) => string;
}

/** The places of a format, with their tables. */
export interface TabledPlaces extends TextPlaces {
  readonly rules: { readonly request: Rule; readonly answer: Rule };
  /** Another spelling of a member's name in requests. */
  readonly spell?: (name: string) => string;
}

export function textPlaces({ request, answer, spell, ...rest }: Options): TabledPlaces {
  const textsOf = (body: JsonObject) => {
    const found: FoundText[] = [];
    collect(answer, body, body, "", {}, "", found);
    return found;
  };
  return {
    rules: { request, answer },
    ...(spell && { spell }),
    request(bytes, withNames = false) {
      const found: TextPlace[] = [];
      find(request, readJson(bytes), {}, "", { bytes, spell, withNames, found });
      return found;
    },
    answer(body) {
      const texts = textsOf(body);
      for (const text of texts) text.channel = undefined;
      return texts;
    },
    event: textsOf,
    ...rest,
  };
}

interface Finding {
  readonly bytes: Uint8Array;
  readonly spell: ((name: string) => string) | undefined;
  readonly withNames: boolean;
  readonly found: TextPlace[];
}

function find(rule: Rule, node: BytesNode, around: Said, path: string, how: Finding): void {
  if ("none" in rule) return;
  switch (node.type) {
    case "string": {
      how.found.push(placeOf(rule, around, path, node, () => node.scalar() as string));
      return;
    }
    case "other": {
      if (!mayBeValue(node) || !NUMBERED.has(kindBy(rule, around))) return;
      const place = placeOf(rule, around, path, node, () => numberAt(how.bytes, node));
      how.found.push({ ...place, isNumber: true });
      return;
    }
    case "array": {
      let index = 0;
      for (const item of node.items()) find(rule, item, around, `${path}[${index++}]`, how);
      return;
    }
    case "object": {
      const { spell, withNames, found } = how;
      const read = (name: string) => {
        for (const [member, value] of node.entries())
          if (member === name || spell?.(member) === name) return value.scalar();
        return undefined;
      };
      const within = saidBy(rule, read, around);
      for (const [name, value] of node.entries()) {
        const own = ownRule(rule, name, spell);
        if (withNames && !own) found.push(namePlace(name, value, within, path));
        find(own ?? restOf(rule), value, within, below(path, name), how);
      }
    }
  }
}

/** Where a number is one of a person, and none of the format. */
const NUMBERED = new Set<TextKind>(["tool-arguments", "tool-result"]);

function placeOf(
  leaf: Leaf,
  around: Said,
  path: string,
  { start, end }: BytesNode,
  read: () => string,
): TextPlace {
  return {
    kind: kindBy(leaf, around),
    path,
    fixed: fixedBy(leaf, around),
    isJson: isJsonBy(leaf, around),
    isReference: leaf.isReference,
    role: around.role,
    start,
    end,
    read,
  };
}

/** @param value of the member: its range stands for that of the name, which has no range of its own */
function namePlace(name: string, { start, end }: BytesNode, around: Said, path: string): TextPlace {
  const { kind = "text", role } = around;
  return { kind, path: `${path}{}`, isReference: true, role, start, end, read: () => name };
}

/** A text, which is whole where it is no piece of a stream. */
interface FoundText extends AnswerText {
  channel?: string | undefined;
}

/** Adds the texts of a parsed value. @param holder the object or list that has it */
function collect(
  rule: Rule,
  value: Json | undefined,
  holder: JsonObject | Json[],
  key: string | number,
  around: Said,
  path: string,
  found: FoundText[],
): void {
  if ("none" in rule || value === null) return;
  if (typeof value === "string") {
    found.push(answerText(rule, around, path, holder, key));
  } else if (typeof value === "number") {
    if (NUMBERED.has(kindBy(rule, around)) && Math.abs(value) >= 10 ** (LEAST_DIGITS - 1)) {
      const at = holder as Record<string | number, Json>;
      const text = answerText(rule, around, path, holder, key);
      found.push({ ...text, isNumber: true, get: () => String(at[key]) });
    }
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      collect(rule, value[index], value, index, around, `${path}[${index}]`, found);
  } else if (typeof value === "object") {
    const within = saidBy(rule, (name) => value[name], around);
    for (const name in value)
      collect(
        ownRule(rule, name) ?? restOf(rule),
        value[name],
        value,
        name,
        within,
        below(path, name),
        found,
      );
  }
}

const below = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

/** @returns undefined: the name is no word of the format */
function ownRule(rule: Rule, name: string, spell?: (name: string) => string): Rule | undefined {
  if (!("members" in rule)) return undefined;
  const { members } = rule;
  if (Object.hasOwn(members, name)) return members[name];
  const other = spell?.(name);
  return other !== undefined && Object.hasOwn(members, other) ? members[other] : undefined;
}

/** The rule of members that have none. */
const restOf = (rule: Rule): Rule => ("members" in rule ? OTHER : rule);

function answerText(
  leaf: Leaf,
  around: Said,
  path: string,
  holder: JsonObject | Json[],
  key: string | number,
): FoundText {
  const { piece, isReference, isCall } = leaf;
  const at = holder as Record<string | number, Json>;
  return {
    kind: kindBy(leaf, around),
    path,
    fixed: fixedBy(leaf, around),
    isJson: isJsonBy(leaf, around),
    isReference,
    call: !isCall || around.hasRun ? undefined : around.isPieced ? (around.channel ?? "") : path,
    channel: piece === undefined ? undefined : `${around.channel ?? ""}/${piece}`,
    get: () => at[key] as string,
    set: (text) => void (at[key] = text),
  };
}

function kindBy(leaf: Leaf, around: Said): TextKind {
  return leaf.kind ?? around.kind ?? "text";
}

/** What a leaf has a kind of its own for is not what the levels around it say. */
function fixedBy({ kind, fixed }: Leaf, around: Said): Text["fixed"] {
  return fixed ?? (kind === undefined ? around.fixed : undefined);
}

function isJsonBy({ kind, isJson }: Leaf, around: Said): true | undefined {
  return isJson ?? ((kind === undefined && around.isJson) || undefined);
}

function saidBy(rule: Rule, read: (name: string) => Json | undefined, around: Said): Said {
  if (!("members" in rule)) return around;
  const { kind, says } = rule;
  const said = says?.(read);
  if (kind === undefined && !said) return around;
  const channel = said?.channel === undefined ? around.channel : `${around.channel ?? ""}/${said.channel}`;
  return {
    ...around,
    ...(kind !== undefined && { kind }),
    ...said,
    ...(channel !== undefined && { channel }),
  };
}
