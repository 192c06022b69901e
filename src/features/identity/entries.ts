/** The issuers of a config, as tokens are checked against them. */
import type { Scopes } from "../../ledger/policy.ts";
import type { Wanted } from "./claims.ts";
import type { GroupRule, Role } from "./groups.ts";
import { ALGORITHMS, type IdentityConfig, type IssuerConfig, type ProviderConfig } from "./declarations.ts";
import type { IntrospectionEndpoint } from "./tokens/introspection.ts";
import { durationMs, nameOf } from "./section.ts";

/** What weir accepts of an issuer, and what it makes of it. An issuer may have several, for different audiences or claims. */
export interface Entry {
  /** As records and metrics name it. */
  readonly name: string;
  readonly issuer: string;
  readonly jwks?: string;
  readonly audiences: readonly string[];
  readonly algorithms: ReadonlySet<string>;
  readonly wanted: Readonly<Record<string, Wanted>>;
  /** Claim with the permanent id. */
  readonly subject: string;
  /** Claims with the name, the first that is there counts, and the one with the groups. */
  readonly names: readonly string[];
  readonly groups: string;
  readonly rules: readonly GroupRule[];
  /** Template of the path. */
  readonly path: string;
  readonly scopes: Scopes;
  readonly acceptsIdTokens: boolean;
  /** Milliseconds. */
  readonly maxAgeMs?: number;
  readonly lifetimeMs: number;
  /** Where the issuer says whether a token is still good; absent: weir does not ask. */
  readonly introspect?: IntrospectionEndpoint;
  /** Its claims alone decide who may use models: it names no people of groups, but jobs and workloads. */
  readonly isForWorkloads: boolean;
}

const DEFAULT_NAMES = ["name", "preferred_username", "email"];
const DEFAULT_PATH = "/people/{email_local}";
const DAY_MS = 86_400_000;

/** The issuers whose tokens calls may send: those with an audience. */
export function entriesOf({ providers, jwt }: IdentityConfig): Entry[] {
  const ofProviders = Object.entries(providers).flatMap(([name, provider]) =>
    provider.audience === undefined ? [] : [providerEntry(name, provider)],
  );
  return [...ofProviders, ...jwt.map(issuerEntry)];
}

/** By name: those for whose people and workloads weir makes tokens of its own. */
export function ownEntriesOf({ providers, jwt }: IdentityConfig): ReadonlyMap<string, Entry> {
  const ofProviders = Object.entries(providers).map(([name, provider]) => providerEntry(name, provider));
  return new Map([...ofProviders, ...jwt.map(issuerEntry)].map((entry) => [entry.name, entry]));
}

/** Secrets are no part of it; for a sign-in, nobody is asked about tokens. */
type ProviderEntry = Omit<ProviderConfig, "secret" | "key" | "introspect"> &
  Pick<ProviderConfig, "introspect">;

/** @param provider its audience may be absent: then no token of calls has one */
export function providerEntry(name: string, provider: ProviderEntry): Entry {
  return {
    ...commonOf(provider),
    name,
    wanted: provider.require ?? {},
    path: provider.map?.path ?? DEFAULT_PATH,
    isForWorkloads: false,
  };
}

function issuerEntry(entry: IssuerConfig): Entry {
  return {
    ...commonOf(entry),
    name: nameOf(entry),
    wanted: entry.when ?? {},
    path: entry.path,
    isForWorkloads: entry.groups === undefined,
  };
}

function commonOf(entry: ProviderEntry | IssuerConfig) {
  const {
    issuer,
    jwks,
    audience,
    algorithms,
    subject,
    groups = {},
    scopes = {},
    map,
    idTokens,
    maxAge,
    lifetime,
    introspect,
  } = entry;
  return {
    issuer,
    ...(jwks !== undefined && { jwks }),
    audiences: audience === undefined ? [] : [audience].flat(),
    algorithms: new Set<string>(algorithms ?? ALGORITHMS),
    subject: subject ?? "sub",
    names: map?.name === undefined ? DEFAULT_NAMES : [map.name],
    groups: map?.groups ?? "groups",
    rules: Object.entries(groups).flatMap(([name, grants]) =>
      Object.entries(grants).map(([role, on]) => ({ name, role: role as Role, on: on as string })),
    ),
    scopes,
    acceptsIdTokens: idTokens ?? false,
    ...(introspect && { introspect: { ...introspect, secret: introspect.secret.reveal() } }),
    ...(maxAge !== undefined && { maxAgeMs: durationMs(maxAge) }),
    lifetimeMs: lifetime === undefined ? DAY_MS : durationMs(lifetime),
  };
}
