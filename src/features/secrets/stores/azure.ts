/** Key Vault of Azure: the reference is the address of the secret. */
import { entraToken } from "../../../auth/entra.ts";
import type { Place } from "../../../core/place.ts";
import { ask, expectObject } from "../ask.ts";
import { placeAt } from "../identity.ts";
import type { AzureOptions, Environment, Store } from "../store.ts";

const API = "api-version=7.4";

export function keyVault({ authority }: AzureOptions, env: Environment): Store {
  /** A token is for the vaults of one cloud. */
  const places = new Map<string, Place>();
  return {
    async read(document, stop) {
      const url = URL.parse(document);
      const isOwn = url?.hostname === "127.0.0.1" || url?.hostname === "localhost";
      if (!url || (url.protocol !== "https:" && !isOwn) || !/^\/secrets\/[^/]+(\/[^/]+)?$/.test(url.pathname))
        throw new Error("must be written as https://VAULT.vault.azure.net/secrets/NAME");
      const audience =
        url.hostname.includes(".") && !isOwn ? url.hostname.replace(/^[^.]+\./, "") : "vault.azure.net";
      let place = places.get(audience);
      if (!place) places.set(audience, (place = placeAt("Azure", env)));
      const authorityHost = authority ?? env["AZURE_AUTHORITY_HOST"];
      const scope = `https://${audience}/.default`;
      const token = await entraToken(place, { scope, ...(authorityHost && { authorityHost }) });
      const headers = { authorization: `Bearer ${token}` };
      const found = expectObject(await ask({ url: `${url.origin}${url.pathname}?${API}`, headers, stop }));
      const version = String(found["id"] ?? "")
        .split("/")
        .at(-1);
      return { content: found["value"], ...(version && { version }) };
    },
  };
}
