/** How weir says who it is at a provider: a secret in a header or in the form, a signed text; and requests that go ahead of the browser. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import type { ProviderConfig } from "../declarations.ts";
import { fetchDocument } from "../fetch-document.ts";
import { Provider } from "../sign-in/provider.ts";
import { Issuer } from "./support/issuer.ts";
import { faultOf, loadSection } from "./support/load.ts";
import { CLIENT, FakeSignIn } from "./support/sign-in.ts";
import { signInSettings } from "../sign-in/settings.ts";

let issuer: Issuer;
let fake: FakeSignIn;

beforeEach(async () => {
  issuer = await Issuer.start("ES256");
  fake = new FakeSignIn(issuer);
});
afterEach(() => issuer.stop());

function providerOf(options: Partial<ProviderConfig>, secret: string): Provider {
  const provider = {
    ...{ name: "corp", client: CLIENT.id, secret, scopes: ["openid"] },
    options: { issuer: issuer.url, ...options },
  };
  const callback = "http://127.0.0.1/auth/callback/corp";
  return new Provider({ provider, callback, fetchDocument, now: Date.now, fault: () => {} });
}

async function signIn(options: Partial<ProviderConfig> = {}, secret = CLIENT.secret) {
  const provider = providerOf(options, secret);
  const { location, attempt } = await provider.begin("/console", null);
  const person = await provider.finish(fake.consent(location, {}), attempt);
  return { location: new URL(location), person };
}

const EC = generateKeyPairSync("ec", { namedCurve: "P-256" });
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (pair: typeof EC, type: "pkcs8" | "sec1" = "pkcs8") =>
  pair.privateKey.export({ type, format: "pem" }) as string;

const part = (text: string, at: number) =>
  JSON.parse(Buffer.from(text.split(".")[at]!, "base64url").toString());

/** Whether a form has an assertion that a public key verifies, for an address. */
function isAssertedBy(pair: typeof EC, form: URLSearchParams, address: string): boolean {
  const text = form.get("client_assertion") ?? "";
  const [head, body, signature] = text.split(".") as [string, string, string];
  const key = createPublicKey(pair.privateKey);
  const how = { key, dsaEncoding: "ieee-p1363" as const };
  const isRight = verify("sha256", Buffer.from(`${head}.${body}`), how, Buffer.from(signature, "base64url"));
  const { iss, sub, aud, exp, iat, jti } = part(text, 1);
  const isWhole = [iss, sub].every((one) => one === CLIENT.id) && aud === address && exp === iat + 60;
  return (
    isRight && isWhole && jti.length === 36 && form.get("client_assertion_type")!.endsWith(":jwt-bearer")
  );
}

test("the secret is in the form where the provider lists no header, or the config says so", async () => {
  const seen: string[] = [];
  fake.identifies = (request, form) => {
    seen.push(request.headers.has("authorization") ? "header" : `form ${form.get("client_secret")}`);
    return true;
  };
  await signIn();
  for (const methods of [["client_secret_post"], ["client_secret_basic", "client_secret_post"]]) {
    issuer.published.metadata = { token_endpoint_auth_methods_supported: methods };
    await signIn();
  }
  await signIn({ method: "post" });
  const inForm = `form ${CLIENT.secret}`;
  expect(seen).toEqual(["header", inForm, "header", inForm]);
});

const KEYS: readonly [string, typeof EC, string, object][] = [
  ["an EC key as PEM", EC, pem(EC), { alg: "ES256", typ: "JWT" }],
  ["an EC key as SEC 1", EC, pem(EC, "sec1"), { alg: "ES256", typ: "JWT" }],
  ["an RSA key as PEM", RSA as unknown as typeof EC, pem(RSA as never), { alg: "RS256", typ: "JWT" }],
  [
    "an EC key as JWK with a name",
    EC,
    JSON.stringify({ ...EC.privateKey.export({ format: "jwk" }), kid: "k1", "x5t#S256": "abc" }),
    { alg: "ES256", typ: "JWT", kid: "k1", "x5t#S256": "abc" },
  ],
];

test.each(KEYS)("%s signs each request anew, and no secret is sent", async (_, pair, key, header) => {
  const asserted: string[] = [];
  fake.identifies = (request, form) => {
    asserted.push(form.get("client_assertion")!);
    const isSecret = request.headers.has("authorization") || form.has("client_secret");
    return !isSecret && isAssertedBy(pair, form, `${issuer.url}/token`);
  };
  const { person } = await signIn({ method: "private_key_jwt" }, key);
  await signIn({ method: "private_key_jwt" }, key);
  expect([person.subject, fake.faults]).toEqual(["alice-1", []]);
  expect(part(asserted[0]!, 0)).toEqual(header);
  expect(new Set(asserted).size).toBe(2);
});

test("a request goes ahead where the provider demands it or the config says so; the browser brings its name alone", async () => {
  const metadata = { pushed_authorization_request_endpoint: `${issuer.url}/par` };
  issuer.published.metadata = metadata;
  const direct = await signIn();
  expect([fake.pushed.size, direct.location.searchParams.has("state")]).toEqual([0, true]);
  const byOption = await signIn({ par: true });
  issuer.published.metadata = { ...metadata, require_pushed_authorization_requests: true };
  const demanded = await signIn();
  for (const { location } of [byOption, demanded])
    expect([...location.searchParams.keys()]).toEqual(["client_id", "request_uri"]);
  const [pushed] = [...fake.pushed.values()];
  expect([...pushed!.keys()]).toEqual(
    expect.arrayContaining(["state", "nonce", "code_challenge", "redirect_uri", "client_id"]),
  );
  expect((await signIn({ par: false })).location.searchParams.has("state")).toBe(true);
  // The endpoint has an assertion of its own: that of another address is worth nothing there.
  const seen: boolean[] = [];
  fake.identifies = (_, form) => {
    const address = form.has("code") ? `${issuer.url}/token` : `${issuer.url}/par`;
    seen.push(isAssertedBy(EC, form, address));
    return true;
  };
  await signIn({ method: "private_key_jwt", par: true }, pem(EC));
  expect(seen).toEqual([true, true]);
});

test("a provider that takes no pushed request lets nobody begin", async () => {
  await expect(signIn({ par: true })).rejects.toThrow(
    "pushed_authorization_request_endpoint in the metadata is missing",
  );
  issuer.published.metadata = { pushed_authorization_request_endpoint: `${issuer.url}/par` };
  fake.identifies = () => false;
  await expect(signIn({ par: true })).rejects.toThrow('pushed requests answers 401 "invalid_client"');
});

test("the options fit together, and a fault has nothing of the key", () => {
  const url = "https://weir.corp.example";
  const of = (more: object) => ({
    url,
    providers: { okta: { issuer: "https://corp.okta.com", client: "x", ...more } },
  });
  const fault = (more: object) => faultOf(of(more));
  const method = "private_key_jwt";
  expect(fault({ method, key: pem(EC) })).toBeUndefined();
  expect(fault({ secret: "s", method: "post" })).toBeUndefined();
  expect(fault({})).toContain("client needs secret");
  expect(fault({ key: pem(EC) })).toContain("key is for the method private_key_jwt");
  expect(fault({ method })).toContain("method private_key_jwt needs key");
  expect(fault({ method, secret: "s" })).toContain("needs key");
  expect(fault({ method, key: pem(EC), secret: "s" })).toContain("leave one out");
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const publicKey = EC.publicKey.export({ type: "spki", format: "pem" }) as string;
  for (const key of [pem(p384 as never), pem(small as never), publicKey, "planted-key", "{}", "{"]) {
    expect(fault({ method, key })).toContain("key must be a private key as PEM or JWK");
    expect(fault({ method, key })).not.toContain(key);
  }
  const settings = signInSettings(loadSection(of({ method, key: pem(EC) })))!;
  expect(settings.providers[0]!.secret).toBe(pem(EC).trim());
  expect(JSON.stringify(settings.providers[0]!.options)).not.toContain("PRIVATE");
});
