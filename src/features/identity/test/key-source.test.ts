/** The keys of an issuer over time: rotation, unknown keys, an issuer that is away, and answers that are no key set. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchDocument } from "../fetch-document.ts";
import { TokenFault } from "../tokens/fault.ts";
import { KeySource } from "../tokens/key-source.ts";
import { readToken } from "../tokens/token.ts";
import { Issuer, SigningKey } from "./support/issuer.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let issuer: Issuer;
let now = 1_800_000_000_000;
const faults: string[] = [];
const sources: KeySource[] = [];

beforeEach(async () => {
  issuer = await Issuer.start();
  faults.length = 0;
});

afterEach(async () => {
  for (const source of sources.splice(0)) source.stop();
  await issuer.stop();
});

function sourceOf(jwks?: string): KeySource {
  const source = new KeySource({
    ...{ issuer: issuer.url, fetchDocument, now: () => now },
    ...(jwks !== undefined && { jwks }),
    fault: (sentence) => faults.push(sentence),
  });
  sources.push(source);
  return source;
}

/** `ok`, or the reason. */
async function verified(source: KeySource, token: string): Promise<string> {
  try {
    await source.verify(readToken(token));
    return "ok";
  } catch (thrown) {
    if (thrown instanceof TokenFault) return thrown.reason;
    throw thrown;
  }
}

test("a new key is fetched when a token names it, at most once a minute", async () => {
  const source = sourceOf();
  expect(await verified(source, await issuer.token())).toBe("ok");
  expect(issuer.fetches).toBe(1);
  now += MINUTE;
  issuer.keys = [await SigningKey.make("second", "ES256"), ...issuer.keys];
  expect(await verified(source, await issuer.token())).toBe("ok");
  expect(issuer.fetches).toBe(2);
  // A key that nobody has, a thousand times.
  const unknown = await issuer.token({}, { kid: "nobody" });
  for (let index = 0; index < 1_000; index++) expect(await verified(source, unknown)).toBe("key");
  expect(issuer.fetches).toBe(2);
  now += MINUTE;
  for (let index = 0; index < 10; index++) expect(await verified(source, unknown)).toBe("key");
  expect(issuer.fetches).toBe(3);
});

test("a key that the issuer has withdrawn verifies nothing after the next fetch", async () => {
  const source = sourceOf();
  const old = await issuer.token();
  expect(await verified(source, old)).toBe("ok");
  issuer.keys = [await SigningKey.make("second", "ES256")];
  now += MINUTE;
  expect(await verified(source, await issuer.token())).toBe("ok");
  expect(await verified(source, old)).toBe("key");
});

test("many first tokens ask once", async () => {
  issuer.delayMs = 50;
  const source = sourceOf();
  const tokens = await Promise.all(
    Array.from({ length: 50 }, (_, index) => issuer.token({ sub: `s${index}` })),
  );
  expect(await Promise.all(tokens.map((token) => verified(source, token)))).toEqual(tokens.map(() => "ok"));
  expect(issuer.fetches).toBe(1);
});

test("while the issuer is away weir uses its keys for a day, says so once, and tells when it is back", async () => {
  const source = sourceOf();
  const token = await issuer.token();
  expect(await verified(source, token)).toBe("ok");
  issuer.published.status = 503;
  now += 2 * HOUR;
  const unknown = await issuer.token({}, { kid: "nobody" });
  expect(await verified(source, unknown)).toBe("key");
  now += MINUTE;
  expect(await verified(source, unknown)).toBe("key");
  expect(await verified(source, token)).toBe("ok");
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain("cannot be renewed");
  expect(source.staleBecause).toContain("503");
  now += 23 * HOUR;
  expect(await verified(source, token)).toBe("unavailable");
  issuer.published.status = 200;
  now += MINUTE;
  expect(await verified(source, token)).toBe("ok");
  expect(faults.at(-1)).toContain("known again");
  expect(source.staleBecause).toBeUndefined();
});

test("an issuer that was never there: tokens wait for nothing, and it is asked every five seconds at most", async () => {
  issuer.published.status = 500;
  const source = sourceOf();
  const token = await issuer.token();
  for (let index = 0; index < 20; index++) expect(await verified(source, token)).toBe("unavailable");
  expect(issuer.asked).toHaveLength(1);
  now += 5_000;
  expect(await verified(source, token)).toBe("unavailable");
  expect(issuer.asked).toHaveLength(2);
});

const BAD: readonly [string, Partial<Issuer["published"]>, RegExp][] = [
  ["no JSON", { keySet: "<html>" }, /no list `keys`/],
  ["a list", { keySet: "[]" }, /no list `keys`/],
  ["no keys", { keySet: '{"keys":[]}' }, /no public key/],
  [
    "secret keys alone",
    { keySet: '{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"first","alg":"HS256"}]}' },
    /no public key/,
  ],
  [
    "keys for encryption alone",
    { keySet: '{"keys":[{"kty":"EC","crv":"P-256","use":"enc","kid":"first"}]}' },
    /no public key/,
  ],
  [
    "a short RSA key",
    { keySet: '{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"first"}]}' },
    /no public key/,
  ],
  [
    "10,000 keys",
    { keySet: JSON.stringify({ keys: Array.from({ length: 10_000 }, () => ({ kty: "EC" })) }) },
    /more than 65536 bytes/,
  ],
  [
    "101 keys",
    { keySet: JSON.stringify({ keys: Array.from({ length: 101 }, () => ({ kty: "EC" })) }) },
    /more than 100 keys/,
  ],
  ["a redirect", { status: 302, headers: { location: "https://evil.example" } }, /answers 302/],
  [
    "another issuer",
    { metadata: { issuer: "https://evil.example" } },
    /names the issuer "https:\/\/evil.example"/,
  ],
  ["a slash more", { metadata: { issuer: undefined } }, /names the issuer absent/],
  [
    "keys over http elsewhere",
    { metadata: { jwks_uri: "http://192.0.2.1/keys" } },
    /jwks_uri .* must begin with https/,
  ],
  ["keys in a file", { metadata: { jwks_uri: "file:///etc/passwd" } }, /jwks_uri .* must be a URL/],
  ["no address of keys", { metadata: { jwks_uri: null } }, /jwks_uri .* is missing/],
];

test.each(BAD)("%s is no key set", async (_, published, expected) => {
  Object.assign(issuer.published, published);
  const source = sourceOf();
  expect(await verified(source, await issuer.token())).toBe("unavailable");
  expect(source.staleBecause).toMatch(expected);
});

test("a bad answer does not replace good keys", async () => {
  const source = sourceOf();
  const token = await issuer.token();
  expect(await verified(source, token)).toBe("ok");
  issuer.published.keySet = '{"keys":[]}';
  now += MINUTE;
  expect(await verified(source, await issuer.token({}, { kid: "nobody" }))).toBe("key");
  expect(await verified(source, token)).toBe("ok");
});

test("keys with the same name, and tokens without one", async () => {
  const [first] = issuer.keys as [SigningKey];
  const rsa = await SigningKey.make("first", "RS256");
  issuer.keys = [first, rsa];
  const source = sourceOf();
  // Of two kinds, the algorithm says which is meant.
  expect(await verified(source, await first.sign(issuer.usual()))).toBe("ok");
  expect(await verified(source, await rsa.sign(issuer.usual()))).toBe("ok");
  // The only key of a kind needs no name.
  expect(await verified(source, await rsa.sign(issuer.usual(), { kid: undefined }))).toBe("ok");
  // A key for one algorithm verifies no other of its kind.
  expect(await verified(source, await rsa.sign(issuer.usual(), { alg: "PS256" }))).toBe("key");
  issuer.keys = [first, await SigningKey.make("second", "ES256")];
  const two = sourceOf();
  expect(await verified(two, await first.sign(issuer.usual(), { kid: undefined }))).toBe("key");
});

test("a file of keys is read, and read again when a token names a new key", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-keys-"));
  try {
    const path = join(folder, "keys.json");
    const write = () => writeFileSync(path, JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) }));
    write();
    const source = sourceOf(path);
    expect(await verified(source, await issuer.token())).toBe("ok");
    issuer.keys = [await SigningKey.make("second", "RS256"), ...issuer.keys];
    write();
    now += MINUTE;
    expect(await verified(source, await issuer.token())).toBe("ok");
    expect(issuer.asked).toEqual([]);
    const missing = sourceOf(join(folder, "none.json"));
    expect(await verified(missing, await issuer.token())).toBe("unavailable");
    expect(missing.staleBecause).toContain("cannot be read (ENOENT)");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
