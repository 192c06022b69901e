/** What the keeper needs for SCIM. Plain JSON: workers send it over the private link, and the keeper does not store it. */
import { digestOf } from "../../../ledger/keys/form.ts";
import type { IdentityConfig } from "../declarations.ts";
import { providerEntry } from "../entries.ts";
import type { GroupRule } from "../groups.ts";
import { scimProvider } from "./section.ts";

export interface ScimSettings {
  /** SHA-256 of the token, as hexadecimal digits. */
  readonly digest: string;
  /** Of the people. */
  readonly issuer: string;
  /** Template of their paths, and the claim with the permanent id. */
  readonly path: string;
  readonly subject: string;
  /** What groups are granted. */
  readonly rules: readonly GroupRule[];
  /** Whether a verified address of a person is that of a user. */
  readonly linksEmail: boolean;
  /** Public address, without a slash at the end; absent: that of each request. */
  readonly url?: string;
}

/** @returns undefined without the option */
export function scimSettings(section: IdentityConfig): ScimSettings | undefined {
  const { scim, link, url, providers } = section;
  const { token } = scim;
  const name = scimProvider(scim.provider, providers);
  const provider = name === undefined ? undefined : providers[name];
  if (!token || name === undefined || !provider) return undefined;
  const { secret: _, ...options } = provider;
  const { issuer, path, subject, rules } = providerEntry(name, options);
  return {
    digest: digestOf(token.reveal()),
    ...{ issuer, path, subject, rules },
    linksEmail: link === "email",
    ...(url !== undefined && { url: url.replace(/\/$/, "") }),
  };
}
