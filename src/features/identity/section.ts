/** The section of the config, and its faults that a schema cannot express. */
import { resolve } from "node:path";
import { type Fault, faultAt, type Path } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { isLoopback } from "../../core/host-names.ts";
import { pathFault } from "../../ledger/keys/path.ts";
import { scopesFault } from "../../ledger/keys/scopes.ts";
import { claudeCodeFaults } from "./claude-code/section.ts";
import { signInFaults } from "./sign-in/section.ts";
import { scimFaults } from "./scim/section.ts";
import { type IdentityConfig, identity, type IssuerConfig, type ProviderConfig } from "./declarations.ts";
import { peopleFaults } from "./declared/section.ts";
import { keyPolicyFaults } from "./me/section.ts";

export const identitySection = section("identity", identity, {
  after: ["keyBudgets", "rates"],
  faults: (written) => identityFaults(written as Partial<IdentityConfig>),
  settle: (value, { folder }) => located(value, folder),
});

/** The names of the issuers whose tokens calls may send: those with an audience. */
export function issuersOf({ providers, jwt }: IdentityConfig): string[] {
  const ofProviders = Object.entries(providers).flatMap(([name, { audience }]) =>
    audience === undefined ? [] : [name],
  );
  return [...ofProviders, ...jwt.map(nameOf)];
}

/** Whether calls may send tokens: of an issuer, or weir's own of people who sign in. */
export function admitsTokens(section: IdentityConfig): boolean {
  const signsIn = Object.values(section.providers).some(({ client }) => client !== undefined);
  return issuersOf(section).length > 0 || (signsIn && section.tokens.secret !== undefined);
}

/** As records name an issuer. */
export function nameOf({ name, issuer }: IssuerConfig): string {
  return name ?? new URL(issuer).host;
}

/** Files are relative to the config. */
function located(value: IdentityConfig, folder: string): IdentityConfig {
  const one = <Entry extends { jwks?: string }>(entry: Entry): Entry => {
    const { jwks } = entry;
    return jwks === undefined || /^https?:/i.test(jwks) ? entry : { ...entry, jwks: resolve(folder, jwks) };
  };
  const providers = Object.fromEntries(
    Object.entries(value.providers).map(([name, provider]) => [name, one(provider)]),
  );
  return { ...value, providers, jwt: value.jwt.map(one) };
}

/** A clause that states the fault of an address of an issuer; undefined when there is none. */
export function addressFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "must be a URL that begins with https://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.hash !== "") return "must not have a fragment";
  if (url.protocol === "https:" || isLoopback(url.hostname)) return undefined;
  return "must begin with https://; http:// is for addresses of this machine only";
}

/** It is part of addresses. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Issuers that give a token to everybody who asks, so that only a claim tells whose it is, and such claims. */
const PUBLIC: readonly { readonly issuer: RegExp; readonly claims: readonly string[] }[] = [
  {
    issuer: /^https:\/\/token\.actions\.githubusercontent\.com(\/|$)/,
    claims: [
      ...["sub", "repository", "repository_id", "repository_owner", "repository_owner_id"],
      ...["enterprise", "enterprise_id", "job_workflow_ref"],
    ],
  },
  {
    issuer: /^https:\/\/gitlab\.com$/,
    claims: ["sub", "namespace_id", "namespace_path", "project_id", "project_path"],
  },
  { issuer: /^https:\/\/accounts\.google\.com$/, claims: ["sub", "hd", "email"] },
  { issuer: /^https:\/\/appleid\.apple\.com$/, claims: ["sub", "email"] },
  {
    issuer: /^https:\/\/app\.terraform\.io$/,
    claims: ["sub", "terraform_organization_id", "terraform_organization_name"],
  },
];

/** The command line would be the only way in. */
function onlyFaults(only: boolean | undefined, providers: Readonly<Record<string, ProviderConfig>>): Fault[] {
  const signsIn = Object.values(providers).some(({ client }) => client !== undefined);
  return faultAt(
    ["identity", "only"],
    only === true && !signsIn ? "only needs a provider with client, at which people sign in" : undefined,
  );
}

function identityFaults(written: Partial<IdentityConfig>): Fault[] {
  const { url, providers = {}, jwt = [], create, tokens, clients, only } = written;
  const named = Object.entries(providers).map(([name, one]) => ({
    at: ["identity", "providers", name],
    one,
  }));
  const listed = jwt.map((one, index) => ({ at: ["identity", "jwt", index], one }));
  const under = create?.under;
  return [
    ...faultAt(["identity", "url"], url && prefixed("url", issuerFault(url))),
    ...onlyFaults(only, providers),
    ...tokenFaults(tokens as { secret?: string; access?: string } | undefined, url),
    ...claudeCodeFaults(clients),
    ...scimFaults(written as Parameters<typeof scimFaults>[0]),
    ...faultAt(
      ["identity", "create", "under"],
      under && prefixed("under", pathFault(under) ?? rootFault(under)),
    ),
    ...named.flatMap(({ at, one }) => [
      ...faultAt(
        at,
        NAME.test(String(at[2]))
          ? undefined
          : `the name of a provider must consist of small letters, digits and dashes, but is ${JSON.stringify(at[2])}`,
      ),
      ...commonFaults(at, one),
      ...signInFaults(at, one, url),
      ...templateFaults([...at, "map", "path"], one.map?.path),
      ...publicFaults([...at, "require"], one.issuer, one.require),
    ]),
    ...listed.flatMap(({ at, one }) => [
      ...commonFaults(at, one),
      ...templateFaults([...at, "path"], one.path),
      ...publicFaults([...at, "when"], one.issuer, one.when),
    ]),
    ...keyFaults([...named, ...listed]),
    ...peopleFaults(written),
    ...keyPolicyFaults(written.keys),
  ];
}

const prefixed = (name: string, clause: string | undefined) => clause && `${name} ${clause}`;
const rootFault = (path: string) => (path === "/" ? "must be below /" : undefined);

function commonFaults(
  at: Path,
  { issuer, jwks, audience, groups = {}, scopes, introspect }: ProviderConfig | IssuerConfig,
): Fault[] {
  const isAddress = jwks !== undefined && /^[a-z]+:\/\//i.test(jwks);
  const audiences = audience === undefined ? [] : [audience].flat();
  return [
    ...faultAt([...at, "issuer"], prefixed("issuer", issuerFault(issuer))),
    ...faultAt([...at, "jwks"], isAddress ? prefixed("jwks", addressFault(jwks)) : undefined),
    ...faultAt(
      [...at, "audience"],
      audiences.some((one) => one.trim() === "") ? "audience is empty" : undefined,
    ),
    ...faultAt([...at, "introspect", "url"], introspect && prefixed("url", addressFault(introspect.url))),
    ...faultAt([...at, "scopes"], scopes && prefixed("scopes:", scopesFault(scopes)?.clause)),
    ...Object.entries(groups).flatMap(([name, grants]) => groupFaults([...at, "groups", name], name, grants)),
  ];
}

/** The secret makes the keys of tokens: a guessed one would make anybody anyone. */
function tokenFaults(
  { secret, access }: { secret?: string; access?: string } = {},
  url: string | undefined,
): Fault[] {
  if (access !== undefined && durationMs(access) > 3_600_000)
    return faultAt(["identity", "tokens", "access"], "access must be at most 1h");
  if (secret === undefined) return [];
  const at = ["identity", "tokens", "secret"];
  if (secret.length < 32)
    return faultAt(at, "secret must have at least 32 characters; make one with: openssl rand -hex 32");
  return faultAt(
    at,
    url === undefined ? "secret needs identity.url, which names the issuer of the tokens" : undefined,
  );
}

/** An issuer has no query (OpenID Connect Discovery 4.1). */
function issuerFault(issuer: string): string | undefined {
  return addressFault(issuer) ?? (issuer.includes("?") ? "must not have a query" : undefined);
}

function groupFaults(at: Path, name: string, grants: Readonly<Record<string, string | undefined>>): Fault[] {
  const entries = Object.entries(grants);
  if (entries.length === 0) return faultAt(at, "a group needs a role, such as `member: /teams/search`");
  return entries.flatMap(([role, on = ""]) => {
    if (on.includes("{1}") && !name.includes("*"))
      return faultAt([...at, role], `${role} has {1}, but the name of the group has no *`);
    return faultAt([...at, role], prefixed(role, pathFault(on.replaceAll("{1}", "a"))));
  });
}

function templateFaults(at: Path, template: string | undefined): Fault[] {
  if (template === undefined) return [];
  const clause =
    pathFault(template.replace(/\{[^{}]+\}/g, "a")) ??
    (/^\/[^/{}]+\//.test(template)
      ? undefined
      : "must begin with a part that is no claim, such as /people/, so that no claim chooses the tree");
  return faultAt(at, prefixed("path", clause));
}

/** Everybody gets a token of such an issuer, for any audience. */
function publicFaults(at: Path, issuer: string, wanted: Readonly<Record<string, unknown>> = {}): Fault[] {
  const open = PUBLIC.find((one) => one.issuer.test(issuer));
  if (!open || Object.keys(wanted).some((name) => open.claims.includes(name))) return [];
  const option = at.at(-1);
  return faultAt(
    at.slice(0, -1),
    `everybody can get a token of ${issuer}; say in ${option} whose you accept, by one of ${open.claims.join(", ")}`,
  );
}

/** The keys belong to the issuer: two entries of one issuer cannot have different ones. */
function keyFaults(entries: readonly { at: Path; one: { issuer: string; jwks?: string } }[]): Fault[] {
  const known = new Map<string, string | undefined>();
  return entries.flatMap(({ at, one: { issuer, jwks } }) => {
    const isOther = known.has(issuer) && known.get(issuer) !== jwks;
    known.set(issuer, jwks);
    return faultAt(
      [...at, "jwks"],
      isOther ? `jwks differs from that of another entry with the issuer ${issuer}` : undefined,
    );
  });
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @param text such as `15m` */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * UNITS[text.at(-1)!]!;
}
