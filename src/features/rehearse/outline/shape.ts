/**
 * The outline of a request: its structure, numbers and words, with placeholders for all that is a client's own. The tables by which
 * the formats say where texts are decide what a string is; where they are silent, it is the client's.
 */
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import type { TextKind } from "../../../core/text-places.ts";
import { ID, NUMBER, WORD, type Rule } from "../../../formats/shared/text-places.ts";
import { freeJson, freeNumber, isLong } from "./free-json.ts";
import { schemaOutline } from "./json-schema.ts";
import type { Placeholders } from "./placeholders.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** What decides what a string is. */
export interface Shaping {
  readonly made: Placeholders;
  readonly words: Vocabulary;
  /** The tables of the format for its requests; absent: nothing in the request is known. */
  readonly rule?: Rule | undefined;
  /** Another spelling of a member's name. */
  readonly spell?: ((name: string) => string) | undefined;
}

/** Members of declarations whose value is a JSON Schema. */
const SCHEMAS = new Set(
  `parameters parametersJsonSchema input_schema inputSchema schema json responseSchema responseJsonSchema response
  output_schema outputSchema format`.split(/\s+/),
);

/** Members with the name of a model, which the config decides about: they stay. */
const MODELS = new Set(["model", "models", "advisor_model"]);

const MODEL = /^[\w.:\/@+-]{1,128}$/;

/** Names that rules call texts and that requests repeat: each place gets the same placeholder. */
const REPEATED = new Set<TextKind>(["name", "declaration"]);

const UNKNOWN: Rule = { kind: "other" };

/** @param body a valid request */
export function shapeOf(body: JsonObject, how: Shaping): JsonObject {
  return shape(body, how.rule ?? UNKNOWN, "text", "", how) as JsonObject;
}

function shape(value: Json, rule: Rule, kind: TextKind, name: string, how: Shaping): Json {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") return freeNumber(value);
  if (typeof value === "string") return stringOf(value, rule, kind, name, how);
  if (Array.isArray(value)) return value.map((one) => shape(one, rule, kind, name, how));
  return objectOf(value as JsonObject, rule, kind, name, how);
}

function objectOf(value: JsonObject, rule: Rule, around: TextKind, holder: string, how: Shaping): JsonObject {
  const level = "members" in rule ? rule : undefined;
  const said = level?.says?.((member) => scalar(value[member]));
  const spell = how.spell ?? asWritten;
  const kind = said?.kind ?? kindOf(rule, around);
  if (!level && isFree(kind)) return freeJson(value, how.made) as JsonObject;
  if (!level && kind === "declaration" && SCHEMAS.has(holder))
    return schemaOutline(value, how.made) as JsonObject;
  const outline: JsonObject = {};
  for (const [member, one] of Object.entries(value)) {
    const name = spell(member);
    const own = level && Object.hasOwn(level.members, name) ? level.members[name] : undefined;
    const isKnown =
      own !== undefined ||
      how.words.has(name) ||
      (rule === NUMBER && /^-?\d+$/.test(member) && !isLong(member));
    const next = own ?? (level ? UNKNOWN : rule);
    const written = isKnown ? member : how.made.name(member);
    const schema =
      isObject(one) && SCHEMAS.has(name) && (kind === "declaration" || kindOf(next, kind) === "declaration");
    outline[written] =
      schema && !(own && "members" in own)
        ? schemaOutline(one, how.made)
        : shape(one!, next, kind, name, how);
  }
  return outline;
}

function stringOf(value: string, rule: Rule, around: TextKind, name: string, how: Shaping): string {
  const { made, words } = how;
  if (rule === WORD || rule === NUMBER) return words.knows(value) ? value : made.name(value);
  if (rule === ID) return MODELS.has(name) ? modelOf(value, made) : made.name(value);
  const kind = kindOf(rule, around);
  const leaf = "members" in rule ? undefined : rule;
  // The choice of a tool is a name or a word: `auto`. Where such a word is the name of a tool, it is so at each place.
  const isNamed = REPEATED.has(kind) && name !== "description";
  if ((isNamed || kind === "other") && words.has(value)) return value;
  if (kind === "media") return made.media(value);
  if (leaf && "isJson" in leaf && leaf.isJson) return jsonText(value, made);
  if (kind === "tool-result") return /^\s*[[{]/.test(value) ? jsonText(value, made) : made.text(value);
  if ((leaf && "isReference" in leaf && leaf.isReference) || isNamed) return made.name(value);
  if (kind === "other") return made.name(value);
  return made.text(value);
}

/** @returns what has not the shape of a model's name, with a placeholder */
export function modelOf(value: string, made: Placeholders): string {
  return MODEL.test(value) ? value : made.name(value);
}

/** JSON within a string stays JSON: some formats want an object in its place. */
function jsonText(value: string, made: Placeholders): string {
  const parsed = parseJson(value);
  // White space after it keeps its length where the client has indented it.
  return parsed === undefined
    ? made.text(value)
    : JSON.stringify(freeJson(parsed, made)).padEnd(value.length);
}

function kindOf(rule: Rule, around: TextKind): TextKind {
  return "kind" in rule && rule.kind !== undefined ? rule.kind : around;
}

const isFree = (kind: TextKind) => kind === "tool-arguments" || kind === "tool-result" || kind === "name";

const asWritten = (name: string) => name;

const scalar = (value: Json | undefined) => (typeof value === "object" ? undefined : value);
