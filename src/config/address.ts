/** Checks and normalizes addresses: to listen on, of browser apps, of providers. */
import { bareHost, hostNameFault, isLoopback } from "../core/host-names.ts";
import { ConfigError, type Fault, faultAt, type Path } from "./error.ts";

/** Options that say where weir listens. */
interface Listening {
  host: string;
  listen: { unix?: string };
}

/** A clause that states the fault of a host to listen on; undefined when there is none. */
export function hostFault(host: string): string | undefined {
  if (host.includes("://")) return "host must be an address without http://";
  const bare = bareHost(host);
  const written = bare.includes(":") ? `[${bare}]` : bare;
  const fits = /^[\w.:%[\]-]+$/.test(host) && URL.canParse(`http://${written.replace(/%.*\]$/, "]")}`);
  if (fits) return undefined;
  if (/^[^:]+:\d+$/.test(host))
    return "host must be an address without a port; set the port with the option port";
  return `host must be an IP address or a host name, but is ${JSON.stringify(host.slice(0, 60))}`;
}

/** Where programs of the same machine reach the gateway. @param port that it listens on */
export function addressOf(
  { host, listen }: Listening,
  port: number,
  isSecure: boolean,
): { url: string; unix?: string } {
  if (listen.unix !== undefined) return { url: "http://localhost", unix: listen.unix };
  const own = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return { url: `${isSecure ? "https" : "http"}://${own.includes(":") ? `[${own}]` : own}:${port}` };
}

/** Whether a URL leads to the gateway itself, as far as the config says where it listens. */
export function isOwnAddress(url: string, { host, listen, port }: Listening & { port: number }): boolean {
  const { hostname, port: written, protocol } = new URL(url);
  const wanted = Number(written || (protocol === "https:" ? 443 : 80));
  if (listen.unix !== undefined || wanted !== port) return false;
  const bare = bareHost(hostname);
  const isLocal = isLoopback(host) || host === "0.0.0.0" || host === "::";
  return bare === bareHost(host) || (isLocal && isLoopback(bare));
}

/** Whether other machines can reach the gateway. */
export function isReachable({ host, listen }: Listening): boolean {
  return listen.unix === undefined && !isLoopback(host);
}

/** Whether web pages may reach the gateway by DNS rebinding, so that it answers known hosts only. */
export function isGuarded(config: Listening, isOpen: boolean): boolean {
  return config.listen.unix === undefined && (isOpen || !isReachable(config));
}

/**
 * Refuses a gateway without keys that other machines or every web page could call.
 * @param hasStore weir has a store for keys: without one in it, no call is admitted
 * @param locate position of an option, for the message
 * @throws ConfigError when the gateway would be open to everyone.
 */
export function assertSafe(
  config: Listening & { keys: readonly unknown[]; cors: { origins: readonly string[] } },
  hasStore: boolean,
  locate: (path: string[]) => string,
): void {
  if (config.keys.length > 0) return;
  if (config.cors.origins.includes("*"))
    throw new ConfigError(
      locate(["cors", "origins"]),
      "every web page could call the gateway, and no gateway keys are set; set WEIR_API_KEYS or keys, or list the allowed origins",
      ["cors", "origins"],
    );
  if (!isReachable(config) || hasStore) return;
  throw new ConfigError(
    locate(["host"]),
    `other machines can reach host ${config.host}, and no gateway keys are set; set WEIR_API_KEYS or keys, or listen on 127.0.0.1`,
    ["host"],
  );
}

/** A clause that states the fault of an address that gets webhooks. The address may contain a credential, so it is not repeated. */
export function webhookFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "must be a URL that begins with http:// or https://";
  return url.username === "" ? undefined : "must not contain a user name";
}

/** Entries of a list that are no host names. @param path of the list */
export function hostNameFaults(path: Path, list: readonly string[]): Fault[] {
  return list.flatMap((name, index) => {
    const clause = hostNameFault(name);
    return faultAt([...path, index], clause && `${path.join(".")}[${index}] ${clause}`);
  });
}

/** A clause that states the fault of a browser app's origin; undefined when there is none. */
export function originFault(text: string): string | undefined {
  if (text === "*") return undefined;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/i.test(text))
    return "must be an origin, such as https://app.example.com, without a path";
  const isWeb = /^https?:/i.test(text);
  const origin = isWeb && URL.canParse(text) ? new URL(text).origin : text.toLowerCase();
  return isWeb && origin !== text.toLowerCase()
    ? `must be written as browsers send it: ${origin}`
    : undefined;
}

/**
 * A clause that states the fault of a provider's base URL; undefined when there is none. It never contains the URL, which
 * may contain credentials.
 */
export function baseUrlFault(text: string): string | undefined {
  if (text === "") return "is empty";
  if (!URL.canParse(text)) return "is not a URL, such as https://api.example.com/v1";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return `must begin with http:// or https://, but begins with ${url.protocol}`;
  }
  if (!/^https?:\/\//i.test(text)) return "must begin with http:// or https://";
  if (url.username !== "" || url.password !== "")
    return "must not contain a user name or password; use apiKey or headers";
  if (text.includes("?") || text.includes("#")) return "must not have a query or a fragment";
  return undefined;
}

/** The URL in normalized form, without a trailing slash. */
export function normalizeBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, "");
}

/**
 * The base URL for a host as command-line tools write it: `host`, `host:port`, `:port`, `[::1]:port` or a URL. A wildcard
 * listen address (`0.0.0.0`, `[::]`) becomes the loopback address.
 * @returns undefined when it is none of these
 */
export function baseUrlOfHost(text: string, port: number, path: string): string | undefined {
  const hasScheme = /^https?:\/\//i.test(text);
  const scheme = port === 443 ? "https" : "http";
  const written = hasScheme ? text : `${scheme}://${text.startsWith(":") ? "127.0.0.1" : ""}${text}`;
  if (!URL.canParse(written)) return undefined;
  const url = new URL(written);
  // `http://host` means port 80, a bare host means the tool's default port. URL drops `:80`, so the text decides.
  const hasPort = hasScheme || /:\d+(?:\/|$)/.test(text);
  if (!hasPort) url.port = String(port);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  return normalizeBaseUrl(url.origin + url.pathname.replace(/\/+$/, "") + path);
}
