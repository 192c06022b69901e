/** Addresses by which weir recognizes a provider, and names for those that it does not know. */
import type { Provider } from "../../core/provider.ts";
import { isVariableList, variableName } from "../../core/settings.ts";
import { pathsOf } from "../../core/template.ts";
import { type SourceRequest, type ConnectionSettings, shortName } from "./draft.ts";

/** Where weir sends the same request. */
export interface HostMatch {
  /** Name of a provider; for one of its own a proposal. */
  provider: string;
  /** No plugin defines the provider: `settings.speaks` is set. */
  isOwn: boolean;
  settings: Pick<ConnectionSettings, "speaks" | "baseUrl" | "variables">;
}

/**
 * Finds the provider that sends a request, by its whole URL and its format: many hosts have several APIs.
 * @param named the provider that the source names. Without one, only a provider at its own host is chosen.
 */
export function placeOf(
  asked: SourceRequest,
  vendors: ReadonlyMap<string, Provider>,
  named: string | undefined = localAt(asked.url),
): HostMatch {
  const { format } = asked;
  const url = usualAddress(asked.url);
  const preferred = vendors.get(named ?? "");
  const all = [...(preferred ? [preferred] : []), ...vendors.values()].flatMap((provider) =>
    addressesOf(provider).flatMap(({ baseUrl, variables }) => {
      const path = pathOf(provider, format);
      return path === undefined ? [] : [{ provider, path, baseUrl, ...(variables && { variables }) }];
    }),
  );
  const found =
    all.find(({ baseUrl, path }) => baseUrl + path === url) ??
    all.find(({ baseUrl, path }) => isVersionOnly(baseUrl, baseOf(url, path)));
  if (found) return placeAt(found.provider, { variables: found.variables });
  const near = all.find(({ baseUrl, path }) => url.endsWith(path) && isAtHost(url, baseUrl));
  const vendor = near?.provider ?? preferred;
  const base = vendor && baseOf(asked.url, pathOf(vendor, format));
  if (vendor && base !== undefined) return placeAt(vendor, { baseUrl: base, variables: near?.variables });
  return { provider: hostName(asked.url), isOwn: true, settings: ownAt(asked) };
}

/** The request to a provider at its own address, in its first format; undefined if it has no address of its own. */
export function ownRequest(provider: Provider | undefined): SourceRequest | undefined {
  const [address] = provider ? addressesOf(provider) : [];
  const [format] = Object.keys(provider?.speaks ?? {});
  const path = provider && format !== undefined ? pathOf(provider, format) : undefined;
  return address && path !== undefined ? { format: format!, url: address.baseUrl + path } : undefined;
}

function placeAt({ name }: Provider, settings: HostMatch["settings"]): HostMatch {
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  return { provider: name, isOwn: false, settings: Object.fromEntries(set) };
}

/** The path of a format at a provider that needs nothing but a key; undefined if it does not speak the format. */
function pathOf({ speaks, authorize }: Provider, format: string): string | undefined {
  const paths = authorize ? undefined : speaks?.[format];
  return paths === undefined ? undefined : pathsOf(paths).json;
}

function baseOf(url: string, path: string | undefined): string | undefined {
  return path !== undefined && url.endsWith(path) ? url.slice(0, -path.length) : undefined;
}

/** Operators write the address of a vendor with or without its version; the vendor's own one holds. */
function isVersionOnly(own: string, base: string | undefined): boolean {
  const plain = (text: string) => text.replace(/\/v1$/, "");
  return base !== undefined && plain(base) === plain(own);
}

function isAtHost(url: string, baseUrl: string): boolean {
  const host = URL.parse(url)?.host;
  const own = URL.parse(baseUrl)?.host;
  return host !== undefined && own !== undefined && (host === own || host.endsWith(`.${own}`));
}

/** Addresses of vendors that lead to the same API by their documentation. */
const SAME: readonly (readonly [address: string, usual: string])[] = [
  // https://api-docs.deepseek.com: "you can also use https://api.deepseek.com/v1"
  ["https://api.deepseek.com/v1/", "https://api.deepseek.com/"],
  // https://docs.together.ai/docs/openai-api-compatibility
  ["https://api.together.ai/v1/", "https://api.together.xyz/v1/"],
  // https://docs.cohere.com/docs/compatibility-api
  ["https://api.cohere.com/", "https://api.cohere.ai/"],
];

/** A URL with the vendor's usual spelling of its address. */
export function usualAddress(url: string): string {
  const same = SAME.find(([address]) => url.startsWith(address));
  return same ? same[1] + url.slice(same[0].length) : url;
}

/** The addresses of a provider: one, or one for each region. */
function addressesOf({
  baseUrl,
  variables,
}: Provider): { baseUrl: string; variables?: Record<string, string> }[] {
  if (typeof baseUrl === "string") return baseUrl.includes("{") ? [] : [{ baseUrl }];
  if (baseUrl === undefined || variables?.["region"]?.default !== "intl") return [];
  return ["intl", "cn"].map((region) => ({ baseUrl: baseUrl({ region }), variables: { region } }));
}

/** Local servers by their usual ports. */
const LOCAL_PORTS: Readonly<Record<string, string>> = { "11434": "ollama", "1234": "lmstudio" };
const LOCAL_HOSTS = /^(localhost|127\.0\.0\.1|\[::1\]|host\.docker\.internal|ollama)$/;

function localAt(url: string): string | undefined {
  const { hostname = "", port = "" } = URL.parse(url) ?? {};
  return LOCAL_HOSTS.test(hostname) ? LOCAL_PORTS[port] : undefined;
}

/** End of the path of each format at hosts that weir does not know. */
const PATHS: Readonly<Record<string, RegExp>> = {
  "chat-completions": /\/chat\/completions(?=\?|$)/,
  responses: /\/responses(?=\?|$)/,
  messages: /\/v1\/messages(?=\?|$)|\/messages(?=\?|$)/,
  gemini: /\/v1beta\/models\/\{model\}:generateContent$|\/models\/\{model\}:generateContent$/,
};
/** Formats with a path that `speaks` of the config assumes. */
const USUAL = ["/chat/completions", "/responses", "/v1/messages", "/v1beta/models/{model}:generateContent"];

/** A provider that only the config describes. */
function ownAt({ format, url }: SourceRequest): HostMatch["settings"] {
  const at = PATHS[format]?.exec(url)?.index ?? url.length;
  const [baseUrl, path] = [url.slice(0, at), url.slice(at)];
  return { speaks: USUAL.includes(path) ? format : { [format]: spokenAt(format, path) }, baseUrl };
}

function spokenAt(format: string, path: string): unknown {
  if (format !== "gemini") return path;
  return { json: path, stream: `${path.replace(":generateContent", ":streamGenerateContent")}?alt=sse` };
}

/** The variable with the API key of a provider: the vendor's own, or `NAME_API_KEY`. */
export function keyVariable({ name, apiKey, credentials }: Partial<Provider> & { name: string }): string {
  const usual = apiKey ?? variableName(name, "API_KEY");
  const alone = (credentials ?? []).flatMap((set) => (isVariableList(set) && set.length === 1 ? set : []));
  return alone.includes(usual) ? usual : (alone[0] ?? usual);
}

/** Where the API key of a provider is in its settings: `apiKey`, or one of several `secrets`. */
export function keySettings(
  vendor: Partial<Provider> & { name: string },
  value: string | undefined,
): Pick<ConnectionSettings, "apiKey" | "secrets"> {
  const usual = vendor.apiKey ?? variableName(vendor.name, "API_KEY");
  const variable = keyVariable(vendor);
  return variable === usual || value === undefined ? { apiKey: value } : { secrets: { [variable]: value } };
}

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
