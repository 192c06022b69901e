/** Filters (RFC 7644 3.4.2.2), as far as weir knows them, and paths of PATCH (3.5.2). */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { coreOf, ENTERPRISE, isSame, type Kind } from "./attributes.ts";
import { CONTROL, memberOf, unknownPath, urnOf } from "./document.ts";
import { invalid, quoted } from "./fault.ts";

/** `path eq value`. Several must all hold. */
export interface Condition {
  readonly path: string;
  readonly value: string | number | boolean | null;
}

const CONDITION =
  /^\s*([a-z$](?:[\w$.:-]|\[[^\]]*\])*)\s+([a-z]+)\s+("(?:[^"\\]|\\.)*"|true|false|null|-?\d+(?:\.\d+)?)\s*/i;
const MOST_CONDITIONS = 10;
const MAX_FILTER = 2_000;

/** @throws ScimFault */
export function readFilter(text: string): Condition[] {
  const conditions: Condition[] = [];
  const refused = () =>
    invalid(
      "invalidFilter",
      `The filter ${quoted(text)} is not one that weir knows: attribute eq "value", several joined by and.`,
    );
  if (text.length > MAX_FILTER) throw refused();
  for (let rest = text; ;) {
    const [whole, path, operator, value] = CONDITION.exec(rest) ?? [];
    if (whole === undefined || !isSame(operator!, "eq") || conditions.length >= MOST_CONDITIONS)
      throw refused();
    const literal = literalOf(value!, refused);
    if (typeof literal === "string" && CONTROL.test(literal)) throw refused();
    conditions.push({ path: path!, value: literal });
    rest = rest.slice(whole.length);
    if (rest === "") return conditions;
    const [and] = /^and\s+/i.exec(rest) ?? [];
    if (and === undefined) throw refused();
    rest = rest.slice(and.length);
  }
}

function literalOf(text: string, refused: () => Error): Condition["value"] {
  try {
    return JSON.parse(/^[tfn]/i.test(text) ? text.toLowerCase() : text) as Condition["value"];
  } catch {
    throw refused();
  }
}

/** Where an operation of PATCH acts. */
export interface Target {
  /** URN of an extension; absent: the resource itself. */
  readonly schema?: string;
  /** Absent: all of the extension. */
  readonly attribute?: string;
  /** Which values of it. */
  readonly conditions?: readonly Condition[];
  /** Part of the attribute, or of its values. */
  readonly part?: string;
}

const TARGET = /^([a-z$][\w$-]*)(?:\[(.+)\])?(?:\.([a-z$][\w$-]*))?$/i;

/** @param document whose extensions are known by their names @throws ScimFault */
export function readPath(kind: Kind, text: string, document: JsonObject): Target {
  const path = text.trim();
  const { schema, rest } = splitSchema(kind, path, document);
  if (rest === "") return { schema: schema! };
  const [, attribute, filter, part] = TARGET.exec(rest) ?? [];
  if (attribute === undefined) throw unknownPath(path);
  return {
    ...(schema !== undefined && { schema }),
    attribute,
    ...(filter !== undefined && { conditions: readFilter(filter) }),
    ...(part !== undefined && { part }),
  };
}

/** The URN in front of a path. A URN has dots and colons itself. */
function splitSchema(kind: Kind, path: string, document: JsonObject): { schema?: string; rest: string } {
  if (!/^urn:/i.test(path)) return { rest: path };
  const known = [coreOf(kind), ENTERPRISE, ...Object.keys(document).filter((name) => /^urn:/i.test(name))];
  const found = known.find((urn) => path.toLowerCase().startsWith(urn.toLowerCase()));
  if (found !== undefined && (path.length === found.length || path[found.length] === ":")) {
    const rest = path.slice(found.length + 1);
    if (!isSame(found, coreOf(kind))) return { schema: urnOf(found), rest };
    if (rest === "") throw unknownPath(path);
    return { rest };
  }
  const bracket = path.indexOf("[");
  const at = (bracket < 0 ? path : path.slice(0, bracket)).lastIndexOf(":");
  return { schema: path.slice(0, at), rest: path.slice(at + 1) };
}

/** Whether a value of an attribute is one that conditions name. Texts are compared without regard to case. */
export function isNamed(value: Json, conditions: readonly Condition[]): boolean {
  return conditions.every(({ path, value: wanted }) => {
    const found = isObject(value) ? memberOf(value, path) : isSame(path, "value") ? value : undefined;
    if (typeof found === "boolean" && typeof wanted === "string")
      return String(found) === wanted.toLowerCase();
    if (typeof found !== "string" || typeof wanted !== "string") return found === wanted;
    return isSame(found, wanted);
  });
}
