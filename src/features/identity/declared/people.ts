/** People whom the config names: what it grants to them, and where their calls are booked. */
import type { Grant, Role } from "../groups.ts";
import type { IdentityConfig } from "../declarations.ts";

/** The source of grants that the config makes. */
export const DECLARED = "config";

/** An entry of `identity.people`. Plain JSON: workers tell the keeper. */
export interface DeclaredPerson {
  readonly issuer: string;
  /** One of both. The address counts where the issuer says that it is verified. Lower case. */
  readonly subject?: string;
  readonly email?: string;
  readonly name?: string;
  readonly path?: string;
  readonly grants: readonly Grant[];
}

/** Who somebody is at an issuer. */
export interface Known {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string;
  readonly isEmailVerified: boolean;
}

export function peopleIn({
  people,
  providers,
}: Pick<IdentityConfig, "people" | "providers">): DeclaredPerson[] {
  return people.map(({ provider, issuer, subject, email, name, path, grants = [] }) => ({
    issuer: issuer ?? providers[provider!]!.issuer,
    ...(subject !== undefined && { subject }),
    ...(email !== undefined && { email: email.toLowerCase() }),
    ...(name !== undefined && { name }),
    ...(path !== undefined && { path }),
    grants: grants.flatMap((one) =>
      Object.entries(one).map(([role, on]) => ({ role: role as Role, on: on as string, source: DECLARED })),
    ),
  }));
}

/** Finds what the config says of somebody. */
export class DeclaredPeople {
  readonly list: readonly DeclaredPerson[];
  readonly #found: ReadonlyMap<string, readonly DeclaredPerson[]>;

  constructor(list: readonly DeclaredPerson[]) {
    this.list = list;
    this.#found = Map.groupBy(list, ({ issuer, subject, email }) =>
      subject === undefined ? byEmail(issuer, email!) : bySubject(issuer, subject),
    );
  }

  /** Several entries may be about one person: their grants add up, and the first path counts. */
  of({ issuer, subject, email, isEmailVerified }: Known): Pick<DeclaredPerson, "path" | "grants"> {
    const named = this.#found.get(bySubject(issuer, subject)) ?? [];
    const written =
      email !== undefined && isEmailVerified
        ? (this.#found.get(byEmail(issuer, email.toLowerCase())) ?? [])
        : [];
    const all = [...named, ...written];
    const path = all.find((one) => one.path !== undefined)?.path;
    return { grants: all.flatMap(({ grants }) => grants), ...(path !== undefined && { path }) };
  }
}

export const NOBODY_DECLARED = new DeclaredPeople([]);

/** An issuer has no NUL. */
const bySubject = (issuer: string, subject: string) => `${issuer}\0s${subject}`;
const byEmail = (issuer: string, email: string) => `${issuer}\0e${email}`;
