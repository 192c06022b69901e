/** Reads claims, compares them with what the config demands, and makes paths of them. */
import { globMatches } from "../../core/glob.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { shown, TokenFault } from "./tokens/fault.ts";

/** A value that a claim must have: a text in which `*` stands for any text, a number, a boolean, or one of several. */
export type Wanted = string | number | boolean | readonly (string | number | boolean)[];

/** A claim by its name, or by a JSON pointer such as `/realm_access/roles`. Only members of its own: no `constructor`. */
export function claimOf(claims: JsonObject, name: string): Json | undefined {
  if (!name.startsWith("/")) return own(claims, name);
  let value: Json | undefined = claims;
  for (const step of name.slice(1).split("/")) {
    const member = step.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isObject(value) ? own(value, member) : undefined;
  }
  return value;
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** @throws TokenFault for the first claim that is not as wanted */
export function expectClaims(claims: JsonObject, wanted: Readonly<Record<string, Wanted>>): void {
  for (const [name, value] of Object.entries(wanted)) {
    const found = claimOf(claims, name);
    const options = typeof value === "object" ? value : [value];
    const given = Array.isArray(found) ? found : [found];
    if (!given.some((one) => options.some((option) => isWanted(one, option))))
      throw new TokenFault("condition", `its claim ${name} is ${shown(found)}, expected ${shown(value)}`);
  }
}

/** Some issuers write booleans as texts. */
function isWanted(found: Json | undefined, wanted: string | number | boolean): boolean {
  if (typeof wanted === "string") return typeof found === "string" && globMatches(wanted, found);
  return found === wanted || (typeof wanted === "boolean" && found === String(wanted));
}

/** Variables that are no claims, but parts of the address in `email`. */
const EMAIL_PARTS = ["email_local", "email_domain"] as const;

const VARIABLE = /\{([^{}]+)\}/g;

/** The variables of a template. */
export function variablesOf(template: string): string[] {
  return [...template.matchAll(VARIABLE)].map(([, name]) => name!);
}

/** Longest value of a variable. Characters. */
const MAX_VALUE = 64;

/**
 * A path with the values of claims. A value is one part of it, whatever characters it has: it cannot lead to another place.
 * @param template such as `/ci/{repository}` @throws TokenFault for a claim that is missing or cannot be part of a path
 */
export function pathFrom(template: string, claims: JsonObject): string {
  return template.replace(VARIABLE, (_, name: string) => segmentOf(name, valueOf(name, claims)));
}

function valueOf(name: string, claims: JsonObject): Json | undefined {
  const isPart = (EMAIL_PARTS as readonly string[]).includes(name);
  if (!isPart && name !== "email") return claimOf(claims, name);
  const email = claimOf(claims, "email");
  if (typeof email !== "string" || !/^[^@\s]+@[^@\s]+$/.test(email)) return undefined;
  const verified = claimOf(claims, "email_verified");
  if (verified === false || verified === "false")
    throw new TokenFault("path", "its claim email is not verified, and its path is made of it");
  // Providers do not tell the letter case of addresses apart.
  const [local, domain] = email.toLowerCase().split("@") as [string, string];
  if (name === "email") return email.toLowerCase();
  return name === "email_local" ? local : domain;
}

/** @throws TokenFault */
function segmentOf(name: string, value: Json | undefined): string {
  if (typeof value === "number" && Number.isSafeInteger(value)) return segmentOf(name, String(value));
  if (typeof value !== "string" || value === "")
    throw new TokenFault("path", `its claim ${name} is ${shown(value)}, and its path is made of it`);
  if (value.length > MAX_VALUE)
    throw new TokenFault(
      "path",
      `its claim ${name} has more than ${MAX_VALUE} characters, and its path is made of it`,
    );
  const escaped = value.replaceAll("..", "_").replace(/[^\w.@-]/g, "_");
  if (/^[a-z0-9]/i.test(escaped)) return escaped;
  throw new TokenFault(
    "path",
    `its claim ${name} is ${shown(value)}, and a part of a path begins with a letter or a digit`,
  );
}
