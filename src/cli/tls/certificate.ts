/** Makes a certificate that its own key has signed, by WebCrypto alone: a small container has no `openssl`. */
import { isIP, isIPv4 } from "node:net";
import { bits, boolean, element, identifier, instant, integer, octets, sequence, set, text } from "./der.ts";

/** ECDSA with P-256 and SHA-256, which all clients of TLS 1.2 and later know. */
const CURVE = { name: "ECDSA", namedCurve: "P-256" };
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" };
const SIGNED_WITH = sequence(identifier("1.2.840.10045.4.3.2"));

const DAY_MS = 86_400_000;
const VALID_DAYS = 365;
/** Clients whose clock is behind accept the certificate at once. Milliseconds. */
const CLOCK_MS = 3_600_000;

/** Bytes of an uncompressed point of the curve, at the end of a public key. */
const POINT_BYTES = 65;
const SERIAL_BYTES = 16;

/** A new private key, as PEM (PKCS 8). */
export async function createKey(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]);
  return pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", privateKey));
}

/**
 * A certificate for a server, valid for 365 days. It is no authority: its key serves to pose as these names alone.
 * @param key PEM, as {@link createKey} makes it
 * @param names DNS names and IP addresses without brackets, at least one
 * @param now milliseconds since 1970
 * @returns PEM
 */
export async function signOwn(key: string, names: readonly string[], now: number): Promise<string> {
  const { secret, point, info } = await readKey(key);
  const name = sequence(set(sequence(identifier("2.5.4.3"), text("weir"))));
  const body = sequence(
    element(0xa0, integer(Buffer.of(2))),
    integer(crypto.getRandomValues(new Uint8Array(SERIAL_BYTES)).fill(0x40, 0, 1)),
    SIGNED_WITH,
    name,
    sequence(instant(new Date(now - CLOCK_MS)), instant(new Date(now + VALID_DAYS * DAY_MS))),
    name,
    info,
    element(0xa3, sequence(...(await extensions(names, point)))),
  );
  const signature = Buffer.from(await crypto.subtle.sign(SIGNATURE, secret, Buffer.from(body)));
  const half = signature.length / 2;
  const pair = sequence(integer(signature.subarray(0, half)), integer(signature.subarray(half)));
  return pem("CERTIFICATE", sequence(body, SIGNED_WITH, bits(pair)));
}

async function extensions(names: readonly string[], point: Uint8Array): Promise<Uint8Array[]> {
  const identity = Buffer.from(await crypto.subtle.digest("SHA-1", Buffer.from(point)));
  const serverAuth = identifier("1.3.6.1.5.5.7.3.1");
  return [
    extension("2.5.29.17", sequence(...names.map(alternativeName))),
    // Not an authority: rustls refuses one as the certificate of a server.
    extension("2.5.29.19", sequence(), true),
    // digitalSignature
    extension("2.5.29.15", bits(Buffer.of(0x80), 7), true),
    extension("2.5.29.37", sequence(serverAuth)),
    extension("2.5.29.14", octets(identity)),
  ];
}

function extension(id: string, value: Uint8Array, isCritical = false): Uint8Array {
  return sequence(identifier(id), ...(isCritical ? [boolean(true)] : []), octets(value));
}

function alternativeName(name: string): Uint8Array {
  return isIP(name) === 0 ? element(0x82, Buffer.from(name)) : element(0x87, addressBytes(name));
}

/** The bytes of an IP address: 4 or 16. */
export function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  // The parser of URLs writes an IPv4 tail as two groups.
  const [front = "", back] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (half: string) => half.split(":").filter(Boolean);
  const before = groups(front);
  const after = groups(back ?? "");
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  const bytes = [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
  return Buffer.from(bytes);
}

async function readKey(key: string) {
  const bytes = Buffer.from(key.replace(/-----[^-]+-----|\s/g, ""), "base64");
  const secret = await crypto.subtle.importKey("pkcs8", bytes, CURVE, true, ["sign"]);
  const { d: _, key_ops: __, ...open } = await crypto.subtle.exportKey("jwk", secret);
  const verifying = await crypto.subtle.importKey("jwk", open, CURVE, true, ["verify"]);
  const info = Buffer.from(await crypto.subtle.exportKey("spki", verifying));
  return { secret, info, point: info.subarray(-POINT_BYTES) };
}

function pem(label: string, content: ArrayBuffer | Uint8Array): string {
  const base64 = Buffer.from(content as Uint8Array).toString("base64");
  return `-----BEGIN ${label}-----\n${base64.replace(/(.{64})(?=.)/g, "$1\n")}\n-----END ${label}-----\n`;
}
