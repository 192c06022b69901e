/** Faults of the section that its schema cannot express. */
import { type Fault, faultAt, type Path } from "../../config/error.ts";
import { pathFault } from "../../ledger/keys/path.ts";
import { scopesFault } from "../../ledger/keys/scopes.ts";
import { addressFault } from "./fetch-document.ts";
import type { IdentityConfig, IssuerConfig, ProviderConfig } from "./schema.ts";

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

export function identityFaults({ providers = {}, jwt = [], create }: Partial<IdentityConfig>): Fault[] {
  const named = Object.entries(providers).map(([name, one]) => ({
    at: ["identity", "providers", name],
    one,
  }));
  const listed = jwt.map((one, index) => ({ at: ["identity", "jwt", index], one }));
  const under = create?.under;
  return [
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
      ...templateFaults([...at, "map", "path"], one.map?.path),
      ...publicFaults([...at, "require"], one.issuer, one.require),
    ]),
    ...listed.flatMap(({ at, one }) => [
      ...commonFaults(at, one),
      ...templateFaults([...at, "path"], one.path),
      ...publicFaults([...at, "when"], one.issuer, one.when),
    ]),
    ...keyFaults([...named, ...listed]),
  ];
}

const prefixed = (name: string, clause: string | undefined) => clause && `${name} ${clause}`;
const rootFault = (path: string) => (path === "/" ? "must be below /" : undefined);

function commonFaults(
  at: Path,
  { issuer, jwks, audience, groups = {}, scopes }: ProviderConfig | IssuerConfig,
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
    ...faultAt([...at, "scopes"], scopes && prefixed("scopes:", scopesFault(scopes)?.clause)),
    ...Object.entries(groups).flatMap(([name, grants]) => groupFaults([...at, "groups", name], name, grants)),
  ];
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
