/** Who somebody is by the claims of a token: the person, the path, and whether weir admits calls. */
import type { JsonObject } from "../../core/json.ts";
import { printable } from "../../core/printable.ts";
import { isWithin, pathFault } from "../../ledger/keys/path.ts";
import { claimOf, expectClaims, pathFrom } from "./claims.ts";
import { DECLARED, type DeclaredPeople } from "./declared/people.ts";
import type { Entry } from "./entries.ts";
import { type Grant, grantsOf, groupsIn, mayUseModels } from "./groups.ts";
import { type AccessRow, besideTokens, grantsIn, personId, tokenId } from "./people.ts";
import { audienceIn, checkTimes, checkType, subjectOf } from "./tokens/check-claims.ts";
import { shown, TokenFault } from "./tokens/fault.ts";
import type { Token } from "./tokens/token.ts";

/** What applies to all issuers of a config. */
export interface Rules {
  /** Below this path people may appear whom no group lets use models; absent: nowhere. */
  readonly createUnder?: string;
  /** Whom the config names. */
  readonly declared?: DeclaredPeople;
}

/** Who a token names. */
export interface Identified {
  readonly person: string;
  /** Id of the token, if it has a `jti`. */
  readonly token?: string;
  readonly subject: string;
  readonly name: string;
  readonly email?: string;
  readonly isEmailVerified: boolean;
  /** Program that got the token. */
  readonly client?: string;
  /** Names of the groups; undefined: the token does not say. */
  readonly groups?: readonly string[];
  /** By the template. */
  readonly path: string;
  /** Of its groups. */
  readonly grants: readonly Grant[];
  /** Seconds since 1970; 0: the token does not say. */
  readonly issuedAt: number;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** The resource of weir for which alone the token is. */
  readonly audience?: string;
}

/** The first entry of an issuer that accepts a token. @param url address of weir @throws TokenFault that of the entry which came closest, the last one */
export function identify(
  token: Token,
  entries: readonly Entry[],
  now: number,
  url?: string,
): { entry: Entry; identified: Identified } {
  let fault = new TokenFault("issuer", `its iss is ${shown(token.claims["iss"])}, which no option names`);
  for (const entry of entries)
    try {
      return { entry, identified: identifyBy(token, entry, now, url) };
    } catch (thrown) {
      if (!(thrown instanceof TokenFault)) throw thrown;
      fault = thrown;
    }
  throw fault;
}

function identifyBy(token: Token, entry: Entry, now: number, url: string | undefined): Identified {
  const { claims, alg } = token;
  if (!entry.algorithms.has(alg))
    throw new TokenFault("algorithm", `its alg is ${alg}, expected ${[...entry.algorithms].join(", ")}`);
  const audience = audienceIn(claims, entry.audiences, url);
  const until = checkTimes(claims, entry, now);
  checkType(token, entry.acceptsIdTokens);
  expectClaims(claims, entry.wanted);
  return { ...personIn(claims, entry), until, ...(audience !== undefined && { audience }) };
}

/** The person in claims that were checked. @throws TokenFault */
export function personIn(claims: JsonObject, entry: Entry): Omit<Identified, "until" | "audience"> {
  const { issuer } = entry;
  const subject = subjectOf(claims, entry.subject);
  const groups = entry.rules.length > 0 ? groupsIn(claims, entry.groups) : undefined;
  const jti = claimOf(claims, "jti");
  const email = textOf(claims, "email");
  const client = ["azp", "appid", "client_id", "cid"].map((name) => textOf(claims, name)).find(Boolean);
  const path = pathFrom(entry.path, claims);
  const fault = pathFault(path);
  if (fault !== undefined) throw new TokenFault("path", `its path would be ${shown(path)}, which ${fault}`);
  const verified = claims["email_verified"];
  return {
    person: personId(issuer, subject),
    ...(typeof jti === "string" && jti !== "" && { token: tokenId(issuer, jti) }),
    subject,
    name: entry.names.map((name) => textOf(claims, name)).find(Boolean) ?? shortened(subject),
    ...(email !== undefined && { email }),
    isEmailVerified: verified === true || verified === "true",
    ...(client !== undefined && { client }),
    ...(groups && { groups }),
    path,
    grants: grantsOf(groups ?? [], entry.rules),
    issuedAt: typeof claims["iat"] === "number" ? claims["iat"] : 0,
  };
}

/** Where somebody stands, by the token and by what weir knows. */
export interface Standing {
  readonly path: string;
  readonly grants: readonly Grant[];
}

/**
 * @param known what the store has of the person @param revoked what it has of the token
 * @throws TokenFault if the person may not use models
 */
export function standingOf(
  identified: Identified,
  entry: Entry,
  rules: Rules,
  known: AccessRow | undefined,
  revoked: AccessRow | undefined,
): Standing {
  const { groups, subject } = identified;
  expectAdmitted(identified, known, revoked);
  // The config of this worker is newer than what the keeper has written of it.
  const kept = known ? grantsIn(known).filter(({ source }) => source !== DECLARED) : [];
  // Groups of the token are newer than those of the last sign-in.
  const ofGroups = groups ? [...identified.grants, ...besideTokens(kept)] : kept;
  const declared = rules.declared?.of({ ...identified, issuer: entry.issuer });
  const grants = declared ? [...ofGroups, ...declared.grants] : ofGroups;
  const path = declared?.path ?? known?.path ?? identified.path;
  if (!entry.isForWorkloads) expectMember(subject, grants, path, rules, groups);
  return { path, grants };
}

/** @param groups for the log @throws TokenFault if the person may not use models */
export function expectMember(
  subject: string,
  grants: readonly Grant[],
  path: string,
  { createUnder }: Rules,
  groups?: readonly string[],
): void {
  if (mayUseModels(grants)) return;
  if (createUnder !== undefined && path !== createUnder && isWithin(path, createUnder)) return;
  throw new TokenFault(
    "unknown-person",
    `no group of ${shown(subject)} lets use models${groups ? ` (${shown(groups.slice(0, 20))})` : ""}`,
  );
}

/** @throws TokenFault for a person who is suspended, and a token that was revoked */
export function expectAdmitted(
  { subject, issuedAt }: Pick<Identified, "subject" | "issuedAt">,
  known: AccessRow | undefined,
  revoked: AccessRow | undefined,
): void {
  if (revoked) throw new TokenFault("revoked", "it was revoked");
  if (known && known.status !== "active")
    throw new TokenFault("suspended", `${shown(subject)} is ${known.status}`);
  if (known && issuedAt < Number(known.not_before))
    throw new TokenFault("revoked", `the tokens of ${shown(subject)} that were issued before were revoked`);
}

/** A claim that is a text, for people. */
function textOf(claims: JsonObject, name: string): string | undefined {
  const value = claimOf(claims, name);
  return typeof value === "string" && value.trim() !== "" ? shortened(value.trim()) : undefined;
}

function shortened(text: string): string {
  return printable(text.slice(0, 80));
}
