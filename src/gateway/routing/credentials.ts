/** Chooses the credentials of a deployment: the first set of its provider that is complete. */
import type { CredentialSet } from "../../core/credential.ts";
import type { Provider } from "../../core/provider.ts";
import type { Secret } from "../../core/secret.ts";
import type { DeploymentSettings, ProviderSettings } from "../../core/settings.ts";
import { isVariableList, variableName } from "../../core/settings.ts";

export interface Credentials {
  /** Names of the environment variables of the set in use. Empty if the provider needs no credential and none is set. */
  names: readonly string[];
  /** Their values. */
  values: ReadonlyMap<string, Secret>;
  /** Where credentials outside the environment were found. */
  source?: string;
}

/** The missing part: a clause for the sentence why the provider is off. */
export interface MissingCredentials {
  missing: string;
}

/** The name of the variable with the API key of a provider. */
export function keyName({ name, apiKey }: Provider): string {
  return apiKey ?? variableName(name, "API_KEY");
}

/** @param variables values of the deployment's variables */
export function chooseCredentials(
  provider: Provider,
  settings: ProviderSettings,
  deployment: Pick<DeploymentSettings, "apiKey" | "secrets">,
  variables: Readonly<Record<string, string>>,
): Credentials | MissingCredentials {
  const apiKey = deployment.apiKey ?? settings.apiKey;
  const key = keyName(provider);
  const found = (name: string) =>
    deployment.secrets?.[name] ?? (name === key ? apiKey : undefined) ?? settings.secrets?.[name];
  const sets: readonly CredentialSet[] = provider.credentials ?? [[key]];
  for (const set of sets) {
    if (isVariableList(set)) {
      if (set.every((name) => found(name) !== undefined))
        return { names: set, values: new Map(set.map((name) => [name, found(name)!])) };
    } else {
      const source = set.find({ variables, env: settings.env ?? {} });
      if (source !== undefined) return { names: [], values: new Map(), source };
    }
  }
  if (!provider.credentials)
    return provider.apiKey ? { missing: `set ${key} to its API key` } : { names: [], values: new Map() };
  return { missing: shortestMissing(sets, (name) => found(name) === undefined) };
}

/** The shortest set of variables that is not complete, and what else the operator can do. */
function shortestMissing(sets: readonly CredentialSet[], isMissing: (name: string) => boolean): string {
  const lacking = sets.filter(isVariableList).map((names) => names.filter(isMissing));
  const [shortest] = lacking.sort((a, b) => a.length - b.length);
  const hints = sets.flatMap((set) => (isVariableList(set) || set.hint === undefined ? [] : [set.hint]));
  return [...(shortest ? [`set ${shortest.join(" and ")}`] : []), ...new Set(hints)].join(", or ");
}
