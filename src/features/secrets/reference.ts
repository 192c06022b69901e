/** The parts of a reference: the store, the document in it, and the member of the document. */
import { isObject, parseJson } from "../../core/json.ts";

export interface Place {
  readonly kind: string;
  /** What is read at once: `secret/data/llm`. */
  readonly document: string;
  /** Behind `#`: the name of a member, or a JSON pointer (RFC 6901). */
  readonly member?: string;
}

/** Kinds whose places are taken as they are. */
const WHOLE = new Set(["file", "exec"]);

/** @param name `vault:secret/data/llm#openai` */
export function placeOf(name: string): Place {
  const colon = name.indexOf(":");
  const kind = name.slice(0, colon);
  const rest = name.slice(colon + 1);
  const hash = WHOLE.has(kind) ? -1 : rest.indexOf("#");
  if (hash < 0) return { kind, document: rest };
  return { kind, document: rest.slice(0, hash), member: rest.slice(hash + 1) };
}

/**
 * The value of a reference in its document.
 * @param content a text, which may be JSON, or members
 * @throws Error with the clause of a sentence about the reference; it has nothing of the document
 */
export function valueIn(content: unknown, member: string | undefined): string {
  if (member === undefined) {
    if (typeof content === "string") return content;
    throw new Error("needs the name of a member, behind #");
  }
  const document = typeof content === "string" ? parseJson(content) : content;
  if (typeof document !== "object" || document === null)
    throw new Error(`has no member ${member}, because the secret is not JSON`);
  return textOf(member.startsWith("/") ? pointed(document, member) : own(document, member, member), member);
}

function pointed(document: unknown, pointer: string): unknown {
  let at = "";
  return pointer
    .slice(1)
    .split("/")
    .reduce((value, step) => {
      at += `/${step}`;
      return own(value, step.replaceAll("~1", "/").replaceAll("~0", "~"), at);
    }, document);
}

function own(value: unknown, name: string, shown: string): unknown {
  if (Array.isArray(value) && /^\d+$/.test(name) && Number(name) < value.length) return value[Number(name)];
  if (isObject(value) && Object.hasOwn(value, name)) return value[name];
  throw new Error(`has no member ${shown}`);
}

function textOf(value: unknown, member: string): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`has a member ${member} that is ${value === "" ? "empty" : "no text"}`);
}
