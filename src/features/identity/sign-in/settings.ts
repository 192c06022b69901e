/** What the keeper needs to sign people in. Plain JSON: workers send it over the private link, and the keeper does not store it. */
import type { IdentityConfig, ProviderConfig } from "../declarations.ts";
import { type AuthorizationSettings, authorizationSettings } from "../own/settings.ts";
import { type KeyPolicy, keyPoliciesOf } from "../me/section.ts";
import { durationMs } from "../section.ts";

export interface SignInProvider {
  readonly name: string;
  /** The options, without secrets. */
  readonly options: Omit<ProviderConfig, "secret" | "key" | "introspect">;
  readonly client: string;
  /** Of weir at the provider, or its private key if the method is `private_key_jwt`. What weir seals for the provider follows from it. */
  readonly secret: string;
  readonly scopes: readonly string[];
}

export interface SignInSettings {
  /** Public address, without a slash at the end. */
  readonly url: string;
  readonly providers: readonly SignInProvider[];
  readonly sessionMs: number;
  /** No key is good for the console and the admin API. */
  readonly only: boolean;
  /** People may sign in whom no group grants a role, below this path; absent: they may not. */
  readonly createUnder?: string;
  /** Where people may make keys for themselves. */
  readonly keys: readonly KeyPolicy[];
  /** How programs of people get tokens; absent: they do not. */
  readonly tokens?: AuthorizationSettings;
}

const DEFAULT_SCOPES = ["openid", "profile", "email"];

/** @returns undefined if no provider signs people in */
export function signInSettings(section: IdentityConfig): SignInSettings | undefined {
  const { url, providers, session, unknown, create, only } = section;
  const found = Object.entries(providers).flatMap(([name, { secret, key, introspect: _, ...options }]) => {
    const { client, ask = DEFAULT_SCOPES } = options;
    const own = key ?? secret;
    if (client === undefined || own === undefined) return [];
    return [{ name, options, client, scopes: ask, secret: own.reveal() }];
  });
  if (url === undefined || found.length === 0) return undefined;
  const tokens = authorizationSettings(section);
  return {
    ...(tokens && { tokens }),
    url: url.replace(/\/$/, ""),
    ...{ providers: found, only },
    sessionMs: durationMs(session),
    keys: keyPoliciesOf(section.keys, durationMs),
    ...(unknown === "create" && { createUnder: create.under }),
  };
}
