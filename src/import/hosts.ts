/** Names of providers in other gateways, and addresses by which weir recognizes a provider. */
import type { Provider } from "../core/provider.ts";
import { variableName } from "../core/settings.ts";
import { shortName } from "./draft.ts";

/** The provider of a plugin whose own address has this host. */
export function vendorAt(url: string, vendors: ReadonlyMap<string, Provider>): Provider | undefined {
  const host = URL.parse(url)?.host;
  if (host === undefined) return undefined;
  const local = LOCAL_PORTS[URL.parse(url)!.port];
  if (/^(localhost|127\.0\.0\.1|\[::1\]|host\.docker\.internal|ollama)(:|$)/.test(host) && local)
    return vendors.get(local);
  return [...vendors.values()].find(
    ({ baseUrl, speaks }) =>
      speaks !== undefined &&
      typeof baseUrl === "string" &&
      !baseUrl.includes("{") &&
      URL.parse(baseUrl)?.host === host,
  );
}

/** The environment variable of a provider's API key: the vendor's own, or `NAME_API_KEY`. */
export function keyVariable({ name, apiKey }: Pick<Provider, "name" | "apiKey">): string {
  return apiKey ?? variableName(name, "API_KEY");
}

/** Local servers by their usual ports. */
const LOCAL_PORTS: Readonly<Record<string, string>> = { "11434": "ollama", "1234": "lmstudio" };

/** Labels of host names that say nothing about who is there. */
const GENERIC = new Set([
  "www",
  "api",
  "gateway",
  "llm",
  "inference",
  "openai",
  "com",
  "net",
  "org",
  "ai",
  "io",
  "dev",
  "v1",
]);

/** A name for the provider at an address: the telling part of the host name. */
export function hostName(url: string): string {
  const { hostname = "", port = "" } = URL.parse(url) ?? {};
  if (/^(localhost|[\d.]+|\[.*\])$/.test(hostname)) return port === "" ? "local" : `local-${port}`;
  const telling = hostname.split(".").find((label) => !GENERIC.has(label));
  return shortName(telling ?? hostname, "host").replace(/^(?=\d)/, "host-");
}

/** Whether an address is the vendor's own, apart from a trailing slash or version. */
export function isVendorAddress(url: string, { baseUrl }: Provider): boolean {
  if (typeof baseUrl !== "string") return false;
  const plain = (text: string) => text.replace(/\/+$/, "").replace(/\/v1$/, "");
  return plain(url) === plain(baseUrl);
}
