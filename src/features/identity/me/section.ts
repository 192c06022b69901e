/** Keys that people may make for themselves, by path: the schema of the config, its faults, and what holds at a path. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type Fault, faultAt, type Path } from "../../../config/error.ts";
import { CLOSED } from "../../../config/sections/kinds.ts";
import { isWithin, pathFault } from "../../../ledger/keys/path.ts";
import { excessOf, scopesFault } from "../../../ledger/keys/scopes.ts";
import type { Scopes } from "../../../ledger/policy.ts";

const MOST = 5;

export const keyPolicySchema = <Schema extends TSchema>(scopes: Schema) =>
  Type.Object(
    {
      path: Type.String({
        description: "People at this path and below: the longest one that matches counts.",
      }),
      maxPerPerson: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          description: `Most valid keys of one person. Default ${MOST}.`,
        }),
      ),
      maxAge: Type.Optional(
        Type.String({
          pattern: "^[1-9]\\d{0,5}[smhd]$",
          "x-expects": "a duration such as 12h or 90d",
          description: "A key ends this long after it was made or rotated. Default: never.",
        }),
      ),
      scopes: Type.Optional(scopes),
    },
    CLOSED,
  );

export type WrittenPolicy = Static<ReturnType<typeof keyPolicySchema>> & { readonly scopes?: Scopes };

export function keyPolicyFaults(policies: readonly WrittenPolicy[] = []): Fault[] {
  const paths = policies.map(({ path }) => path);
  return policies.flatMap(({ path, scopes }, index) => {
    const at: Path = ["identity", "keys", index];
    const clause = pathFault(path);
    const fault = scopes && scopesFault(scopes);
    return [
      ...faultAt([...at, "path"], clause && `path ${clause}`),
      ...faultAt([...at, "path"], paths.indexOf(path) < index ? `path ${path} is there twice` : undefined),
      ...faultAt([...at, "scopes"], fault && `scopes: ${fault.clause}`),
    ];
  });
}

/** Plain JSON: workers tell the keeper. */
export interface KeyPolicy {
  readonly path: string;
  readonly most: number;
  /** Milliseconds. */
  readonly maxAgeMs?: number;
  readonly scopes: Scopes;
}

/** @param durationMs reads a duration of the config */
export function keyPoliciesOf(
  written: readonly WrittenPolicy[],
  durationMs: (text: string) => number,
): KeyPolicy[] {
  return written.map(({ path, maxPerPerson = MOST, maxAge, scopes = {} }) => ({
    ...{ path, most: maxPerPerson, scopes },
    ...(maxAge !== undefined && { maxAgeMs: durationMs(maxAge) }),
  }));
}

/** @returns undefined: people at this path may not make keys */
export function policyAt(policies: readonly KeyPolicy[], path: string): KeyPolicy | undefined {
  const matching = policies.filter((one) => isWithin(path, one.path));
  return matching.sort((one, other) => other.path.length - one.path.length)[0];
}

/** What both permit: of each restriction the narrower one, and where none is within the other that of the issuer. */
export function narrowed(issuer: Scopes, policy: Scopes): Scopes {
  const all: Record<string, unknown> = { ...issuer };
  for (const [name, value] of Object.entries(policy)) {
    const isWithinIssuer = excessOf({ ...issuer, [name]: value }, issuer) === undefined;
    if (isWithinIssuer) all[name] = value;
  }
  return all;
}
