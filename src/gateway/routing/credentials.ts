/** Chooses the credentials of a deployment: the first set of its provider that is complete. */
import type { Provider } from "../../core/provider.ts";
import type { Secret } from "../../core/secret.ts";
import type { DeploymentSettings, ProviderSettings } from "../../core/settings.ts";
import { variableName } from "../../core/settings.ts";

export interface Credentials {
  /** Names of the environment variables of the set in use. Empty if the provider needs no credential and none is set. */
  names: readonly string[];
  /** Their values. */
  values: ReadonlyMap<string, Secret>;
}

/** What is missing: a clause for the sentence why the provider is off. */
export interface MissingCredentials {
  missing: string;
}

/** The name of the variable with the API key of a provider. */
export function keyName({ name, apiKey }: Provider): string {
  return apiKey ?? variableName(name, "API_KEY");
}

export function chooseCredentials(
  provider: Provider,
  settings: ProviderSettings,
  deployment: Pick<DeploymentSettings, "apiKey" | "secrets">,
): Credentials | MissingCredentials {
  const apiKey = deployment.apiKey ?? settings.apiKey;
  const key = keyName(provider);
  const found = (name: string) =>
    deployment.secrets?.[name] ?? (name === key ? apiKey : undefined) ?? settings.secrets?.[name];
  const sets = provider.credentials ?? [[key]];
  const complete = sets.find((names) => names.every((name) => found(name) !== undefined));
  if (complete) return { names: complete, values: new Map(complete.map((name) => [name, found(name)!])) };
  if (!provider.credentials)
    return provider.apiKey ? { missing: `set ${key} to its API key` } : { names: [], values: new Map() };
  const lacking = sets.map((names) => names.filter((name) => found(name) === undefined));
  const shortest = lacking.reduce((least, names) => (names.length < least.length ? names : least));
  return { missing: `set ${shortest.join(" and ")}` };
}
