/** What options of a sign-in mean: the private key of weir, and where Microsoft Graph is. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { isLoopback } from "../../../core/host-names.ts";

/** Least length of a key. Bits. */
const RSA_BITS = 2_048;

export interface ClientKey {
  readonly key: KeyObject;
  readonly alg: "ES256" | "RS256";
  /** What a JWK says of itself: providers find the public key by it. Entra wants the thumbprint of the certificate. */
  readonly named: Readonly<Record<string, string>>;
}

const NAMES = ["kid", "x5t", "x5t#S256"];

/** @param text PEM or JWK @throws Error with a clause */
export function readClientKey(text: string): ClientKey {
  const jwk = text.trim().startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : undefined;
  const key = jwk ? createPrivateKey({ key: jwk as never, format: "jwk" }) : createPrivateKey(text);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const named = Object.fromEntries(
    NAMES.flatMap((name) => (typeof jwk?.[name] === "string" ? [[name, jwk[name]]] : [])),
  );
  if (type === "ec" && details?.namedCurve === "prime256v1") return { key, alg: "ES256", named };
  if (type === "rsa" && (details?.modulusLength ?? 0) >= RSA_BITS) return { key, alg: "RS256", named };
  throw new Error("is of another kind");
}

/** A clause that states the fault of a key; undefined when there is none. It has nothing of the key. */
export function clientKeyFault(text: string): string | undefined {
  try {
    readClientKey(text);
    return undefined;
  } catch {
    return `must be a private key as PEM or JWK: EC of the curve P-256, or RSA of at least ${RSA_BITS} bits`;
  }
}

/** Graph of the world, and those of national clouds (https://learn.microsoft.com/graph/deployments). */
const HOSTS = [
  ...["graph.microsoft.com", "graph.microsoft.us", "dod-graph.microsoft.us"],
  "microsoftgraph.chinacloudapi.cn",
];

/** A clause that states the fault of an address of Graph; undefined when there is none. */
export function graphFault(text: string): string | undefined {
  const { protocol, host, hostname, pathname, search } = URL.parse(text) ?? {};
  const isKnown = protocol === "https:" && HOSTS.includes(host ?? "");
  if ((isKnown || isLoopback(hostname ?? "")) && pathname === "/" && search === "") return undefined;
  return `must be true, or the address of a national cloud, such as https://${HOSTS[1]}`;
}

/** @param graph option of the config @returns the address; undefined: Graph is not asked */
export function graphAddress(graph: boolean | string | undefined): string | undefined {
  if (graph === undefined || graph === false) return undefined;
  return graph === true ? `https://${HOSTS[0]}` : new URL(graph).origin;
}
