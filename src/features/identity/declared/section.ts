/** Faults of the people in the config. */
import { type Fault, faultAt, type Path } from "../../../config/error.ts";
import { pathFault } from "../../../ledger/keys/path.ts";
import type { IdentityConfig, PersonConfig } from "../declarations.ts";

type Issuers = Partial<Pick<IdentityConfig, "providers" | "jwt">>;

export function peopleFaults({
  people = [],
  ...issuers
}: Issuers & { people?: readonly PersonConfig[] }): Fault[] {
  return people.flatMap((one, index) => personFaults(["identity", "people", index], one, issuers));
}

/** A person whom no issuer of the config could name would never come. */
function personFaults(
  at: Path,
  { provider, issuer, subject, email, path, grants = [] }: Partial<PersonConfig>,
  { providers = {}, jwt = [] }: Issuers,
): Fault[] {
  if ((provider === undefined) === (issuer === undefined))
    return faultAt(at, "a person needs either provider or issuer");
  if ((subject === undefined) === (email === undefined))
    return faultAt(at, "a person needs either subject or email");
  const issuers = [...Object.values(providers), ...jwt].map((one) => one.issuer);
  return [
    ...faultAt(
      [...at, "provider"],
      provider !== undefined && !Object.hasOwn(providers, provider)
        ? `provider ${JSON.stringify(provider)} is none of identity.providers`
        : undefined,
    ),
    ...faultAt(
      [...at, "issuer"],
      issuer !== undefined && !issuers.includes(issuer)
        ? `issuer ${issuer} is that of no entry of identity.providers or identity.jwt`
        : undefined,
    ),
    ...faultAt([...at, "path"], path && prefixed("path", pathFault(path))),
    ...grants.flatMap((one, index) => grantFaults([...at, "grants", index], one)),
  ];
}

function grantFaults(at: Path, grant: Readonly<Record<string, string | undefined>>): Fault[] {
  const entries = Object.entries(grant);
  if (entries.length === 0) return faultAt(at, "a grant needs a role, such as `member: /teams/search`");
  return entries.flatMap(([role, on = ""]) => faultAt([...at, role], prefixed(role, pathFault(on))));
}

const prefixed = (name: string, clause: string | undefined) => clause && `${name} ${clause}`;
