/** Names of providers in other gateways, and addresses by which weir recognizes a provider. */
import type { Provider } from "../core/provider.ts";
import { variableName } from "../core/settings.ts";
import { shortName } from "./draft.ts";

/** A provider of a plugin, and the variables with which its address is the one that was looked for. */
export interface FoundVendor {
  name: string;
  provider: Provider;
  variables?: Record<string, string>;
}

/** The provider of a plugin at whose own address, or at a subdomain of it, a URL is. */
export function vendorAt(url: string, vendors: ReadonlyMap<string, Provider>): FoundVendor | undefined {
  const { host, hostname = "", port = "" } = URL.parse(url) ?? {};
  if (host === undefined) return undefined;
  const local = vendors.get(LOCAL_PORTS[port] ?? "");
  if (local && LOCAL_HOSTS.test(hostname)) return { name: local.name, provider: local };
  for (const provider of vendors.values())
    for (const variables of addressesOf(provider)) {
      const vendorHost = URL.parse(addressAt(provider, variables) ?? "")?.host;
      if (vendorHost === undefined || !(host === vendorHost || host.endsWith(`.${vendorHost}`))) continue;
      return { name: provider.name, provider, ...(variables && { variables }) };
    }
  return undefined;
}

const LOCAL_HOSTS = /^(localhost|127\.0\.0\.1|\[::1\]|host\.docker\.internal|ollama)$/;

/** The variables of a provider that has an address for each region. */
function addressesOf({ speaks, baseUrl, variables }: Provider): (Record<string, string> | undefined)[] {
  if (speaks === undefined || baseUrl === undefined) return [];
  if (typeof baseUrl === "string") return [undefined];
  return variables?.["region"]?.default === "intl" ? [{ region: "intl" }, { region: "cn" }] : [];
}

function addressAt({ baseUrl }: Provider, variables?: Record<string, string>): string | undefined {
  if (typeof baseUrl === "function") return variables && baseUrl(variables);
  return baseUrl?.includes("{") ? undefined : baseUrl;
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
export function isVendorAddress(
  url: string,
  provider: Provider,
  variables?: Record<string, string>,
): boolean {
  const own = addressAt(provider, variables);
  const plain = (text: string) => text.replace(/\/+$/, "").replace(/\/v1$/, "");
  return own !== undefined && plain(url) === plain(own);
}
