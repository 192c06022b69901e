/** Tokens that weir must refuse, over the socket of a gateway with each kind of key: none of them is admitted. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { json as answerJson, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { base64url, Issuer, SigningKey } from "./support/issuer.ts";

setDefaultTimeout(60_000);

let upstream: Upstream;
let issuer: Issuer;
let rsa: Issuer;
let stranger: Issuer;
let gateway: RunningGateway;
let foreign: SigningKey;

beforeAll(async () => {
  upstream = startUpstream(answerJson(CHAT_ANSWER));
  [issuer, rsa, stranger] = await Promise.all([
    Issuer.start("ES256"),
    Issuer.start("RS256"),
    Issuer.start("ES256"),
  ]);
  foreign = await SigningKey.make("first", "ES256");
  const entry = { audience: "weir", path: "/people/{email_local}" };
  gateway = await startGateway({
    config: {
      ...chatHost(upstream.url),
      identity: {
        jwt: [
          { issuer: issuer.url, ...entry, when: { email: "*@corp.example" } },
          { issuer: rsa.url, ...entry, maxAge: "1h" },
        ],
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([issuer.stop(), rsa.stop(), stranger.stop()]);
  await upstream.stop();
});

async function ask(token: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "host/some-model", messages: [{ role: "user", content: "hi" }] }),
  });
  return { status: answer.status, body: await answer.text() };
}

const now = () => Math.floor(Date.now() / 1_000);
const json = (value: unknown) => base64url(JSON.stringify(value));

/** Headers in place of the right one; the signature is right. */
const HEADERS: Record<string, Record<string, unknown>> = {
  "no alg": { alg: undefined },
  "alg null": { alg: null },
  "alg a list": { alg: ["ES256"] },
  "alg none": { alg: "none" },
  "alg None": { alg: "None" },
  "alg NONE": { alg: "NONE" },
  "alg empty": { alg: "" },
  "alg es256": { alg: "es256" },
  "alg ES256K": { alg: "ES256K" },
  "alg HS256": { alg: "HS256" },
  "alg HS512": { alg: "HS512" },
  "alg RS1": { alg: "RS1" },
  "alg of another kind": { alg: "RS256" },
  "alg of another curve": { alg: "ES384" },
  "alg EdDSA": { alg: "EdDSA" },
  "alg constructor": { alg: "constructor" },
  "alg __proto__": { alg: "__proto__" },
  "kid unknown": { kid: "second" },
  "kid a number": { kid: 1 },
  "kid empty": { kid: "" },
  "kid null": { kid: null },
  "kid a path": { kid: "../../../../dev/null" },
  "kid of SQL": { kid: "first' OR '1'='1" },
  "kid of 10,000 characters": { kid: "k".repeat(10_000) },
  "kid with NUL": { kid: "first\0" },
  "crit b64": { crit: ["b64"], b64: false },
  "crit unknown": { crit: ["x"], x: 1 },
  "crit empty": { crit: [] },
  "b64 alone": { b64: false },
  jku: { jku: "https://evil.example/keys" },
  x5u: { x5u: "https://evil.example/cert" },
  x5c: { x5c: ["MIIB"] },
  zip: { zip: "DEF" },
  enc: { enc: "A256GCM" },
  "typ a number": { typ: 1 },
  "typ of a refresh token": { typ: "rt+jwt" },
  "typ of a logout token": { typ: "logout+jwt" },
  "typ of an ID token": { typ: "id+jwt" },
  "typ secevent": { typ: "secevent+jwt" },
  "typ dpop": { typ: "dpop+jwt" },
};

/** Claims in place of the right ones; the signature is right. */
const CLAIMS: Record<string, () => Record<string, unknown>> = {
  "no iss": () => ({ iss: undefined }),
  "iss a list": () => ({ iss: [issuer.url] }),
  "iss null": () => ({ iss: null }),
  "iss with a slash more": () => ({ iss: `${issuer.url}/` }),
  "iss in capitals": () => ({ iss: issuer.url.toUpperCase() }),
  "iss of localhost": () => ({ iss: issuer.url.replace("127.0.0.1", "localhost") }),
  "iss of another entry": () => ({ iss: rsa.url }),
  "iss of nobody": () => ({ iss: "https://evil.example" }),
  "iss __proto__": () => ({ iss: "__proto__" }),
  "no aud": () => ({ aud: undefined }),
  "aud another": () => ({ aud: "other" }),
  "aud longer": () => ({ aud: "weir2" }),
  "aud in capitals": () => ({ aud: "WEIR" }),
  "aud with a space": () => ({ aud: "weir " }),
  "aud an empty list": () => ({ aud: [] }),
  "aud others": () => ({ aud: ["a", "b"] }),
  "aud nested": () => ({ aud: [["weir"]] }),
  "aud an object": () => ({ aud: { weir: true } }),
  "aud null": () => ({ aud: null }),
  "aud true": () => ({ aud: true }),
  "no exp": () => ({ exp: undefined }),
  "exp past": () => ({ exp: now() - 1 }),
  "exp long past": () => ({ exp: 1 }),
  "exp zero": () => ({ exp: 0 }),
  "exp negative": () => ({ exp: -1 }),
  "exp a text": () => ({ exp: String(now() + 600) }),
  "exp null": () => ({ exp: null }),
  "exp true": () => ({ exp: true }),
  "exp in milliseconds": () => ({ exp: Date.now() + 600_000 }),
  "exp huge": () => ({ exp: 1e300 }),
  "exp in two days": () => ({ exp: now() + 172_800 }),
  "exp a list": () => ({ exp: [now() + 600] }),
  "nbf future": () => ({ nbf: now() + 600 }),
  "nbf a text": () => ({ nbf: "now" }),
  "nbf a list": () => ({ nbf: [] }),
  "iat future": () => ({ iat: now() + 600 }),
  "iat a text": () => ({ iat: "now" }),
  "iat long ago": () => ({ iat: now() - 172_800 }),
  "no sub": () => ({ sub: undefined }),
  "sub empty": () => ({ sub: "" }),
  "sub a number": () => ({ sub: 1 }),
  "sub null": () => ({ sub: null }),
  "sub a list": () => ({ sub: ["somebody"] }),
  "sub of 300 characters": () => ({ sub: "s".repeat(300) }),
  "nonce of an ID token": () => ({ nonce: "n" }),
  "events of a logout token": () => ({
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  }),
  "typ Refresh of Keycloak": () => ({ typ: "Refresh" }),
  "typ Offline of Keycloak": () => ({ typ: "Offline" }),
  "typ ID of Keycloak": () => ({ typ: "ID" }),
  "email of another company": () => ({ email: "alice@evil.example" }),
  "email that ends alike": () => ({ email: "alice@corp.example.evil.example" }),
  "no email": () => ({ email: undefined }),
  "email a list of others": () => ({ email: ["alice@evil.example"] }),
  "email not verified": () => ({ email_verified: false }),
  "email not verified, as a text": () => ({ email_verified: "false" }),
};

/** Texts that were made by other means. */
async function texts(): Promise<Record<string, string>> {
  const [key] = issuer.keys as [SigningKey];
  const right = await issuer.token();
  const [head, body, signature] = right.split(".") as [string, string, string];
  const bytes = Buffer.from(signature, "base64url");
  const flipped = Buffer.from(bytes);
  flipped[10]! ^= 1;
  const usual = JSON.stringify(issuer.usual());
  const header = JSON.stringify({ alg: "ES256", kid: "first" });
  const [published] = rsa.keys as [SigningKey];
  const hmac = (secret: string | Buffer) => {
    const text = `${json({ alg: "HS256", kid: "first" })}.${json(rsa.usual())}`;
    return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  };
  const withNul = JSON.stringify({ ...issuer.usual(), extra: "x".repeat(16_000) });
  return {
    "two parts": `${head}.${body}`,
    "two parts and a dot": `${head}.${body}.`,
    "four parts": `${right}.${signature}`,
    "five parts": `${head}.${body}.${signature}.${body}.${signature}`,
    "no header": `.${body}.${signature}`,
    "no payload": `${head}..${signature}`,
    "dots alone": "..",
    "a padded signature": `${right}==`,
    "base64 instead of base64url": `${head}.${Buffer.from(usual).toString("base64")}.${signature}`,
    "a signature of zeros": `${head}.${body}.${base64url(new Uint8Array(64))}`,
    "a flipped bit": `${head}.${body}.${base64url(flipped)}`,
    "half a signature": `${head}.${body}.${base64url(bytes.subarray(0, 32))}`,
    "a longer signature": `${head}.${body}.${base64url(Buffer.concat([bytes, bytes]))}`,
    "another payload": `${head}.${json({ ...issuer.usual(), email: "root@corp.example" })}.${signature}`,
    "another header": `${json({ alg: "ES256", kid: "first", typ: "JWT", x: 1 })}.${body}.${signature}`,
    "the signature of another token": `${head}.${body}.${(await issuer.token({ sub: "other" })).split(".")[2]}`,
    "another key with the same name": await foreign.sign(issuer.usual()),
    "another key in its header": await foreign.sign(issuer.usual(), { jwk: foreign.jwk }),
    "another issuer's key": await stranger.token({ iss: issuer.url }),
    "an unknown issuer": await stranger.token(),
    "the key of another entry": await published.sign(issuer.usual()),
    "HS256 with the public key as PEM": hmac(
      `-----BEGIN PUBLIC KEY-----\n${Buffer.from(JSON.stringify(published.jwk)).toString("base64")}\n-----END PUBLIC KEY-----`,
    ),
    "HS256 with the public key as JWK": hmac(JSON.stringify(published.jwk)),
    "HS256 with the modulus": hmac(Buffer.from(published.jwk.n!, "base64url")),
    "HS256 with an empty secret": hmac(""),
    "alg none without a signature": `${json({ alg: "none" })}.${body}.`,
    "alg none with one": `${json({ alg: "none" })}.${body}.${signature}`,
    "a header that is no JSON": await key.signRaw("{alg:ES256}", usual),
    "a header that is a list": await key.signRaw("[]", usual),
    "a header that is null": await key.signRaw("null", usual),
    "a payload that is a list": await key.signRaw(header, `[${usual}]`),
    "a payload that is a text": await key.signRaw(header, '"iss"'),
    "a payload that is empty": await key.signRaw(header, "{}"),
    "a payload of broken UTF-8": await key.signRaw(
      header,
      Buffer.concat([
        Buffer.from(usual.slice(0, -1)),
        Buffer.from(',"x":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}'),
      ]),
    ),
    "a payload with a byte order mark": await key.signRaw(header, `\ufeff${usual}`),
    "alg twice": await key.signRaw('{"alg":"none","kid":"first","alg":"ES256"}', usual),
    "iss twice": await key.signRaw(header, usual.replace("{", '{"iss":"https://evil.example",')),
    "aud twice, once escaped": await key.signRaw(header, usual.replace("{", '{"\\u0061ud":"other",')),
    "a payload of 16 KB": await key.signRaw(header, withNul),
    "deep nesting": await key.signRaw(header, `{"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`),
  };
}

test("a right token is admitted, so that the others are refused for what is wrong with them", async () => {
  expect((await ask(await issuer.token())).status).toBe(200);
  expect((await ask(await rsa.token())).status).toBe(200);
});

test("headers, claims and texts: none is admitted, and no answer says why", async () => {
  const tokens: [string, string][] = Object.entries(await texts());
  for (const [name, header] of Object.entries(HEADERS)) tokens.push([name, await issuer.token({}, header)]);
  for (const [name, claims] of Object.entries(CLAIMS)) tokens.push([name, await issuer.token(claims())]);
  expect(tokens.length).toBeGreaterThanOrEqual(130);
  const calls = upstream.requests.length;
  const through: string[] = [];
  const told: string[] = [];
  for (const [name, token] of tokens) {
    const { status, body } = await ask(token);
    // weir refuses headers that long before it looks for credentials.
    const isRefused = status === 401 || (status === 431 && token.length > 16_000);
    if (!isRefused) through.push(`${name}: ${status} ${body.slice(0, 200)}`);
    if (/kid|audience|signature|issuer "|nonce|claim/i.test(body)) told.push(`${name}: ${body}`);
  }
  expect(through).toEqual([]);
  expect(told).toEqual([]);
  expect(upstream.requests.length).toBe(calls);
  // No token in the log, as a whole or its signature.
  const log = gateway.log.join("\n");
  expect(tokens.filter(([, token]) => token.length > 60 && log.includes(token.slice(-40)))).toEqual([]);
});

test("unknown kids in a row fetch the keys at most once a minute", async () => {
  const before = issuer.fetches;
  for (let index = 0; index < 50; index++) await ask(await issuer.token({}, { kid: `k${index}` }));
  expect(issuer.fetches - before).toBeLessThanOrEqual(1);
});
