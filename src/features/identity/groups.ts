/** Groups of people, and what the config grants to them. */
import { globMatches } from "../../core/glob.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { claimOf } from "./claims.ts";
import { TokenFault } from "./tokens/fault.ts";

export const ROLES = ["viewer", "member", "manager", "admin", "auditor"] as const;
export type Role = (typeof ROLES)[number];

/** A role on a path, and why a person has it: `group:NAME`, or `hand`. */
export interface Grant {
  readonly role: Role;
  readonly on: string;
  readonly source: string;
}

/** What a group is granted: `name` may have `*`, and `on` then `{1}` for what the first one stands for. */
export interface GroupRule {
  readonly name: string;
  readonly role: Role;
  readonly on: string;
}

/** Longest name of a group that weir looks at, and most groups of a person. */
const MAX_NAME = 256;
export const MAX_GROUPS = 2_000;

/**
 * The names of the groups in a claim: a list, or one text with commas between them.
 * @returns undefined if there is no such claim @throws TokenFault for a claim that says that there are groups, and not which
 */
export function groupsIn(claims: JsonObject, claim: string): readonly string[] | undefined {
  const found = claimOf(claims, claim);
  if (found === undefined || found === null) {
    if (isOverage(claims, claim))
      throw new TokenFault(
        "claims",
        `it has too many groups: the issuer left out the claim ${claim}; let it send only the groups that are assigned to the application, or set map.graph for the sign-in`,
      );
    return undefined;
  }
  if (typeof found === "string") return bounded(found.split(",").map((name) => name.trim()));
  if (Array.isArray(found)) return bounded(found.flatMap(nameIn));
  throw new TokenFault("claims", `its claim ${claim} is neither a list nor a text`);
}

/** Entra leaves groups out of a token beyond 200, and says where they are. */
export function isOverage(claims: JsonObject, claim: string): boolean {
  const names = claims["_claim_names"];
  return (
    claims["hasgroups"] === true ||
    claims["hasgroups"] === "true" ||
    (isObject(names) && Object.hasOwn(names, claim))
  );
}

/** A list has names, or objects with a name. */
function nameIn(entry: Json): string[] {
  if (typeof entry === "string") return [entry];
  return isObject(entry) && typeof entry["name"] === "string" ? [entry["name"]] : [];
}

/** @throws TokenFault */
function bounded(names: readonly string[]): readonly string[] {
  if (names.length > MAX_GROUPS) throw new TokenFault("claims", `it has more than ${MAX_GROUPS} groups`);
  return names.filter((name) => name !== "" && name.length <= MAX_NAME);
}

/** What groups are granted by rules; groups without a rule grant nothing. */
export function grantsOf(groups: readonly string[], rules: readonly GroupRule[]): Grant[] {
  const grants = new Map<string, Grant>();
  for (const rule of rules)
    for (const group of groups) {
      if (!globMatches(rule.name, group)) continue;
      const on = filled(rule, group);
      if (on !== undefined)
        grants.set(`${rule.role} ${on}`, { role: rule.role, on, source: `group:${group}` });
    }
  return [...grants.values()];
}

/** @returns undefined if what the star stands for is no part of a path: such a group is none of those that were meant */
function filled({ name, on }: GroupRule, group: string): string | undefined {
  if (!on.includes("{1}")) return on;
  const star = name.indexOf("*");
  const middle = group.slice(star, group.length - (name.length - star - 1));
  return /^[a-z0-9][\w.@-]{0,63}$/i.test(middle) && !middle.includes("..")
    ? on.replaceAll("{1}", middle)
    : undefined;
}

/** Whether someone with these grants may use models. */
export function mayUseModels(grants: readonly Grant[]): boolean {
  return grants.some(({ role }) => role === "member" || role === "manager" || role === "admin");
}
