/**
 * Asks an address that a stranger names. The address that the name has is checked, and the request goes to that very address: a name
 * that means another one a moment later (DNS rebinding) leads nowhere else.
 */
import { lookup as lookUp } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { isLoopback } from "../core/host-names.ts";
import { isInBlocks, parseBlock } from "../ledger/keys/addresses.ts";

/** Addresses that are not of the public internet (IANA's registries of special-purpose addresses). */
const SPECIAL = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"],
  ...["203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/127", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"],
  ...[
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
  ],
  "ff00::/8",
].map((block) => parseBlock(block)!);

export function isPublic(address: string): boolean {
  return !isInBlocks(address, SPECIAL);
}

export interface PublicRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Hosts, with a port if it is not that of the scheme, that may have other addresses than public ones. */
  readonly hosts: readonly string[];
  /** Most bytes of the answer, and the longest time until it is whole, in milliseconds. */
  readonly mostBytes: number;
  readonly timeoutMs: number;
}

export interface PublicAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
  /** The bytes as UTF-8. */
  readonly text: string;
  /** @param name in lower case @returns the first value */
  header(name: string): string | undefined;
}

/** One request, without redirects. @throws Error with a clause that names no more than the host */
export async function askPublic(url: URL, asked: PublicRequest): Promise<PublicAnswer> {
  const { method = "GET", headers = {}, body, hosts, mostBytes, timeoutMs } = asked;
  const isListed = hosts.includes(url.host);
  const isPlain = url.protocol === "http:" && isListed && isLoopback(url.hostname);
  if (url.protocol !== "https:" && !isPlain) throw new Error("the address must begin with https://");
  const target = await addressOf(url, isListed, timeoutMs);
  const pinned: LookupFunction = (_, options, done) =>
    options.all ? done(null, [target]) : done(null, target.address, target.family);
  const options: RequestOptions = {
    ...{ method, host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || undefined, agent: false },
    ...{ path: url.pathname + url.search, lookup: pinned },
    headers: { accept: "application/json", host: url.host, ...headers },
  };
  const request = isPlain ? httpRequest(options) : httpsRequest(options);
  try {
    return await within(
      new Promise<PublicAnswer>((resolve, reject) => {
        request.on("error", reject);
        request.on("response", (response) => void read(response, mostBytes).then(resolve, reject));
        request.end(body);
      }),
      `${url.host} does not answer`,
      timeoutMs,
    );
  } finally {
    request.destroy();
  }
}

/** The address to which a request goes. @throws Error with a clause for a name that has none, or one that is not public */
async function addressOf(url: URL, isListed: boolean, timeoutMs: number) {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await within(
    lookUp(host, { all: true, verbatim: true }),
    `${host} has no address`,
    timeoutMs,
  );
  const [target] = found;
  if (!target) throw new Error(`${host} has no address`);
  if (!isListed && found.some(({ address }) => !isPublic(address)))
    throw new Error(`${host} has an address that is not public`);
  return target;
}

/** @throws Error with a clause for an answer that is too large */
async function read(response: IncomingMessage, mostBytes: number): Promise<PublicAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  const { statusCode = 0, headers } = response;
  const whole = Buffer.concat(pieces);
  return {
    status: statusCode,
    bytes: whole,
    get text() {
      return whole.toString("utf8");
    },
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
  };
}

/** @throws Error with the clause, if the work fails without one of its own or takes too long */
async function within<Value>(work: Promise<Value>, clause: string, ms: number): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${clause} within ${ms / 1_000} s`)), ms);
  try {
    return await Promise.race([work, promise]);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    throw typeof code === "string" ? new Error(`${clause} (${code})`) : cause;
  } finally {
    clearTimeout(timer);
  }
}
