/** Credentials of Microsoft Entra, which several providers in Azure accept instead of their API key. */
import { type CredentialSet, entraToken, type Place } from "weir";

export const ENTRA_CREDENTIALS: readonly CredentialSet[] = [
  ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"],
  ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"],
  {
    find: ({ variables }) =>
      variables["identity"] === "managed" ? "the managed identity of this machine" : undefined,
  },
];

export const ENTRA_VARIABLES = {
  authorityHost: {
    env: ["AZURE_AUTHORITY_HOST"],
    default: "https://login.microsoftonline.com",
    describe: "the address of Microsoft Entra",
  },
  // Without the operator's word weir asks no address of the machine it runs on.
  identity: { optional: true, describe: "`managed` to use the managed identity of the machine" },
};

/** The headers with the key in use, or else with a token. @param keys names of the API keys @param header of the API key */
export async function authorizeWith(
  place: Place,
  { keys, header, scope }: { keys: readonly string[]; header: string; scope: string },
): Promise<Record<string, string>> {
  const key = keys.map((name) => place.secret(name)).find((secret) => secret !== undefined);
  if (key !== undefined) return { [header]: key };
  const { authorityHost } = place.variables;
  return { authorization: `Bearer ${await entraToken(place, { scope, authorityHost })}` };
}
