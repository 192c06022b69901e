/** The section of the config. */
import { resolve } from "node:path";
import { section } from "../../config/section.ts";
import { type IdentityConfig, identity } from "./schema.ts";
import { identityFaults } from "./section-faults.ts";

export const identitySection = section("identity", identity, {
  after: ["keyBudgets", "rates"],
  faults: (written) => identityFaults(written as Partial<IdentityConfig>),
  settle: (value, { folder }) => located(value, folder),
});

/** Whether the config names an issuer. */
export function isOn({ providers, jwt }: IdentityConfig): boolean {
  return jwt.length > 0 || Object.keys(providers).length > 0;
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
