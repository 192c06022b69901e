/** AWS Signature Version 4 of a request, for `authorize` of a provider. */
import type { OutgoingRequest } from "../core/place.ts";
import { encodeComponent } from "../core/template.ts";

export interface SignV4Options {
  /** Name of the service in the signature, such as `bedrock`. */
  service: string;
  region: string;
  keys: AwsKeys;
  /** Milliseconds since 1970: `place.now()`. AWS accepts a difference of five minutes. */
  now: number;
}

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  /** Only of temporary keys. */
  sessionToken?: string;
}

/**
 * The headers that sign a request: `authorization`, `x-amz-date`, `x-amz-content-sha256` and, for temporary keys,
 * `x-amz-security-token`. The signature covers these, the host, the content type, the URL and the body, and no other header,
 * because proxies change others.
 */
export function signV4(request: OutgoingRequest, options: SignV4Options): Record<string, string> {
  const { keys, now } = options;
  const bodyDigest = digestOf(request.body);
  const contentType = request.headers["content-type"];
  const added: Record<string, string> = {
    "x-amz-content-sha256": bodyDigest,
    "x-amz-date": new Date(now).toISOString().replace(/[-:]|\.\d+/g, ""),
    ...(keys.sessionToken !== undefined && { "x-amz-security-token": keys.sessionToken }),
  };
  const signed = {
    host: request.url.host,
    ...(contentType !== undefined && { "content-type": contentType }),
    ...added,
  };
  return { ...added, authorization: authorizationV4(request, signed, bodyDigest, options) };
}

/**
 * The `authorization` header of a request.
 * @param headers the headers to sign, with lower-case names; `x-amz-date` is among them
 * @param bodyDigest SHA-256 of the body, hexadecimal
 */
export function authorizationV4(
  { method, url }: Pick<OutgoingRequest, "method" | "url">,
  headers: Readonly<Record<string, string>>,
  bodyDigest: string,
  { service, region, keys }: Pick<SignV4Options, "service" | "region" | "keys">,
): string {
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]!.trim().replace(/\s+/g, " ")}\n`);
  const signedNames = names.join(";");
  const canonical = [
    method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    lines.join(""),
    signedNames,
    bodyDigest,
  ].join("\n");
  const date = headers["x-amz-date"]!;
  const day = date.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, digestOf([canonical])].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  const signature = hmac(key, text).digest("hex");
  return `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`;
}

/** The path as it is sent, with each segment encoded once more, as all services but S3 expect. */
function canonicalPath(path: string): string {
  return path.split("/").map(encodeComponent).join("/");
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => [encodeComponent(name), encodeComponent(value)] as const);
  return pairs
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** SHA-256 of the pieces, one behind the other, hexadecimal. */
function digestOf(pieces: readonly (string | Uint8Array)[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

function hmac(key: string | Buffer, text: string) {
  return new Bun.CryptoHasher("sha256", key).update(text);
}
