/**
 * Fetches a small document from an address that a stranger names. The address that the name has is checked, and the request goes to that
 * very address: a name that means another one a moment later (DNS rebinding) leads nowhere else.
 */
import { lookup as lookUp } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { isLoopback } from "../../../core/host-names.ts";
import { isInBlocks, parseBlock } from "../../../ledger/keys/addresses.ts";

const MOST_BYTES = 5_120;
const TIMEOUT_MS = 3_000;

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

export interface PublicDocument {
  readonly text: string;
  /** Seconds for which it may be kept; undefined: it does not say. */
  readonly maxAge?: number;
}

/** @param hosts that may have other addresses than public ones @throws Error with a clause */
export async function fetchPublic(url: URL, hosts: readonly string[]): Promise<PublicDocument> {
  const isListed = hosts.includes(url.host);
  const isPlain = url.protocol === "http:" && isListed && isLoopback(url.hostname);
  if (url.protocol !== "https:" && !isPlain) throw new Error("the address must begin with https://");
  if (!isListed && url.port !== "") throw new Error("the address must have no port");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await within(lookUp(host, { all: true, verbatim: true }), `${host} has no address`);
  const [target] = found;
  if (!target) throw new Error(`${host} has no address`);
  if (!isListed && found.some(({ address }) => !isPublic(address)))
    throw new Error(`${host} has an address that is not public`);
  const pinned: LookupFunction = (_, options, done) =>
    options.all ? done(null, [target]) : done(null, target.address, target.family);
  const options: RequestOptions = {
    ...{ host: url.hostname, port: url.port || undefined, path: url.pathname + url.search, agent: false },
    ...{ lookup: pinned, headers: { accept: "application/json" } },
  };
  const request = isPlain ? httpRequest(options) : httpsRequest(options);
  try {
    return await within(
      new Promise<PublicDocument>((resolve, reject) => {
        request.on("error", reject);
        request.on("response", (response) => void read(response).then(resolve, reject));
        request.end();
      }),
      `${url.host} does not answer`,
    );
  } finally {
    request.destroy();
  }
}

/** @throws Error with a clause for an answer that is no small document of JSON */
async function read(response: IncomingMessage): Promise<PublicDocument> {
  if (response.statusCode !== 200) throw new Error(`it answers ${response.statusCode}`);
  const type = response.headers["content-type"] ?? "";
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) throw new Error("it is no application/json");
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  const age = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(response.headers["cache-control"] ?? "")?.[1];
  return { text: Buffer.concat(pieces).toString("utf8"), ...(age !== undefined && { maxAge: Number(age) }) };
}

/** @throws Error with the clause, if the work fails without one of its own or takes too long */
async function within<Value>(work: Promise<Value>, clause: string): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${clause} within ${TIMEOUT_MS / 1_000} s`)), TIMEOUT_MS);
  try {
    return await Promise.race([work, promise]);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    throw typeof code === "string" ? new Error(`${clause} (${code})`) : cause;
  } finally {
    clearTimeout(timer);
  }
}
