/** Rules for single members of what a plugin exports: each returns the fault as a clause, or undefined. */
import { isObject } from "../core/json.ts";
import { didYouMean } from "../core/suggest.ts";

/**
 * Checks one member. @param name name of the member in messages: `its models`
 * @returns the fault, or undefined. It never contains a value that may be secret.
 */
export type MemberRule = (value: unknown, name: string) => string | undefined;

export type Table<Type> = Record<keyof Type, MemberRule>;

export const must =
  (what: string, fits: (value: unknown) => boolean): MemberRule =>
  (value, name) =>
    value === undefined || fits(value) ? undefined : `${name} must be ${what}`;

export const required =
  (rule: MemberRule): MemberRule =>
  (value, name) =>
    value === undefined ? `${name} is missing` : rule(value, name);

export const isText = (value: unknown): value is string => typeof value === "string";

export const text = must("a text", isText);
export const number = must("a number", Number.isFinite);
export const flag = must("true or false", (value) => typeof value === "boolean");
export const callable = must("a function", (value) => typeof value === "function");
export const texts = must("a list of texts", (value) => Array.isArray(value) && value.every(isText));
export const textOrTexts = must(
  "a text, or a list of texts",
  (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
);
export const textMap = must(
  "an object of texts",
  (value) => isObject(value) && Object.values(value).every(isText),
);
export const oneOf = (...words: string[]) =>
  must(words.map((word) => `"${word}"`).join(" or "), (value) => isText(value) && words.includes(value));

/** Model names or patterns. A text instead of a list would be read character by character. */
export const patterns: MemberRule = (value, name) =>
  isText(value)
    ? `${name} must be a list, not a text; write [${JSON.stringify(value.slice(0, 60))}]`
    : texts(value, name);

/** Capitals, digits and underscores, the convention for environment variables; no vendor's key has this form. */
export const variable = must(
  "the name of an environment variable in capitals, such as ACME_API_KEY; do not write the key itself into the file",
  (value) => isText(value) && /^[A-Z_][A-Z0-9_]{0,63}$/.test(value),
);

export const variables: MemberRule = (value, name) => {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return `${name} must be a list of environment variables`;
  return value.map((entry) => required(variable)(entry, `each of ${name}`)).find(Boolean);
};

/** Sets of credentials. A text instead of a list of names would be read character by character. @param source checks a set that is no list */
export const credentialSets =
  (source: MemberRule): MemberRule =>
  (value, name) => {
    if (value === undefined) return undefined;
    if (
      !Array.isArray(value) ||
      !value.every((set) => isObject(set) || (Array.isArray(set) && set.length > 0))
    )
      return `${name} must be a list of sets, each a list of environment variables, such as [["ACME_KEY"], ["ACME_ID", "ACME_SECRET"]]`;
    for (const entry of value.flat()) {
      const fault = (isObject(entry) ? source : required(variable))(entry, `each of ${name}`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };

export const paths = must(
  'an object of formats, each with a path or with { json: "/…", stream: "/…", models: ["…"] }',
  (value) => isObject(value) && Object.values(value).every(isPath),
);

export const path = must('a path or { json: "/…", stream: "/…", models: ["…"] }', isPath);

function isPath(value: unknown): boolean {
  if (isText(value)) return true;
  if (!isObject(value) || !isText(value["json"])) return false;
  const { json, stream = "", models = [], modelFor, ownClientsOnly = false, ...unknown } = value;
  const areTexts = typeof stream === "string" && Array.isArray(models) && models.every(isText);
  const isSpelled = modelFor === undefined || typeof modelFor === "function";
  return areTexts && isSpelled && typeof ownClientsOnly === "boolean" && Object.keys(unknown).length === 0;
}

export const baseUrl = must(
  "a text or a function of the variables",
  (value) => isText(value) || typeof value === "function",
);

const isAuth = (value: unknown) => value === "bearer" || value === "x-api-key" || typeof value === "function";
export const auth = must('"bearer", "x-api-key" or a function of the key', isAuth);

/** An object with known members. @param label name of a member in messages: `its hook` */
export const group =
  <Type>(label: string, table: Table<Type>): MemberRule =>
  (value, name) =>
    value === undefined
      ? undefined
      : isObject(value)
        ? memberFault(value, table, label)
        : `${name} must be an object`;

/** A list of objects with known members. @param kind and `label` (the naming member) form the message: `provider "groq": …` */
export const listOf =
  <Type>(kind: string, label: keyof Type & string, table: Table<Type>): MemberRule =>
  (value, name) => {
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every(isObject)) return `${name} must be a list of objects`;
    for (const [index, item] of value.entries()) {
      const fault = memberFault(item, table, "its");
      const shown = isText(item[label]) ? `"${item[label].slice(0, 60)}"` : `number ${index + 1}`;
      if (fault !== undefined) return `${kind} ${shown}: ${fault}`;
    }
    return undefined;
  };

/** A list of at most `most` things with different names, which a function of the public interface made. */
export const madeBy =
  (
    maker: string,
    type: abstract new (...given: never[]) => { readonly name: string },
    most: number,
  ): MemberRule =>
  (value, name) => {
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every((one) => one instanceof type))
      return `${name} must be a list of what ${maker} returns`;
    if (value.length > most) return `${name} must be at most ${most}`;
    const names = value.map((one) => String(one.name));
    const odd = names.find((one, at) => !OWN_NAME.test(one) || names.indexOf(one) !== at);
    if (odd === undefined) return undefined;
    const shown = JSON.stringify(odd.slice(0, 60));
    return OWN_NAME.test(odd)
      ? `${name} have the name ${shown} twice`
      : `${name} have the name ${shown}; a name consists of letters, digits and underscores, at most 48`;
  };

const OWN_NAME = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

export function memberFault<Type>(value: object, table: Table<Type>, label: string): string | undefined {
  const known = Object.keys(table);
  for (const name of Object.keys(value))
    if (!known.includes(name))
      return `${label} ${name} is unknown${didYouMean(name, known) || `; the known ones are ${known.join(", ")}`}`;
  for (const [name, rule] of Object.entries<MemberRule>(table)) {
    const fault = rule((value as Record<string, unknown>)[name], `${label} ${name}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** An object whose members all have the same shape. @param what name of the members in messages */
export const mapOf =
  <Type>(what: string, table: Table<Type>): MemberRule =>
  (value, name) => {
    if (value === undefined) return undefined;
    if (!isObject(value)) return `${name} must be an object of ${what}`;
    for (const [key, member] of Object.entries(value)) {
      const label = `${name}.${key.slice(0, 60)}`;
      const fault = isObject(member) ? memberFault(member, table, label) : `${label} must be an object`;
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
