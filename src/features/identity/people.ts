/** People and workloads: their ids, and what weir knows of them besides their tokens. */
import { isObject, parseJson } from "../../core/json.ts";
import { DECLARED } from "./declared/people.ts";
import { type Grant, type Role, ROLES } from "./groups.ts";

/**
 * The permanent id of a person or workload: issuer and subject, and nothing that can change. All processes and nodes find the same
 * one without asking each other.
 */
export function personId(issuer: string, subject: string): string {
  return `per_${digest(issuer, subject)}`;
}

/** `wait_…` names a user of SCIM whose person is not known yet. */
export const isPersonId = (id: string): boolean => /^(per|wait)_/.test(id);

/** The id of one token, as a revocation names it. */
export function tokenId(issuer: string, jti: string): string {
  return `tok_${digest(issuer, jti)}`;
}

/** An issuer has no NUL, so that no two pairs have one text. */
function digest(issuer: string, text: string): string {
  return new Bun.CryptoHasher("sha256").update(`${issuer}\0${text}`).digest("hex").slice(0, 32);
}

/** A row of the table that every worker holds: of a person of whom more is known than the token says, or of a revoked token. */
export interface AccessRow {
  /** Of a person, or of a token. */
  readonly id: string;
  readonly status: "active" | "suspended" | "deleted" | "revoked";
  /** Path in place of that of the template; null: none. */
  readonly path: string | null;
  /** {@link Grant}s as JSON. */
  readonly grants: string;
  /** Tokens that were issued before are refused. Seconds since 1970; 0: none are. */
  readonly not_before: number | string;
  /** Whether a suspension ended running calls: 1 or 0. */
  readonly cut: number | string;
}

/** The grants of a row. What is no grant is left out: it grants nothing. */
export function grantsIn({ grants }: Pick<AccessRow, "grants">): Grant[] {
  const list = parseJson(grants);
  if (!Array.isArray(list)) return [];
  return list.flatMap((one) => {
    if (!isObject(one)) return [];
    const { role, on, source } = one;
    const isGrant = ROLES.includes(role as Role) && typeof on === "string" && typeof source === "string";
    return isGrant ? [{ role: role as Role, on, source }] : [];
  });
}

/** Grants that a person did not get from the groups of its tokens, and that new ones do not replace. */
export function besideTokens(grants: readonly Grant[]): Grant[] {
  return grants.filter(({ source }) => !source.startsWith("group:"));
}
