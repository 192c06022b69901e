/** Certified client libraries sign in at weir: code with PKCE by a document and by registration, device codes, refresh, revocation. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import * as oauth from "oauth4webapi";
import * as client from "openid-client";
import { callWith, press, signedIn, type SigningGateway, startSigning } from "./support/signing-gateway.ts";
import { formIn } from "./support/programs.ts";
import type { Browser } from "./support/sign-in.ts";

setDefaultTimeout(120_000);

const REDIRECT = "http://127.0.0.1:33418/callback";
const HTTP = { [oauth.allowInsecureRequests]: true } as const;

let world: SigningGateway;
let documents: ReturnType<typeof Bun.serve>;
let documented = "";

beforeAll(async () => {
  documents = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    fetch: ({ url }) => Response.json({ client_id: url, client_name: "Library", redirect_uris: [REDIRECT] }),
  });
  documented = `http://127.0.0.1:${documents.port}/client.json`;
  world = await startSigning({ clients: { dcr: true, hosts: [`127.0.0.1:${documents.port}`] } });
});

afterAll(async () => {
  await world?.stop();
  await documents?.stop(true);
});

/** What the person does in the browser. @returns where it goes back to */
async function allow(browser: Browser, address: URL): Promise<URL> {
  const shown = await browser.go(address.pathname + address.search);
  const { action, fields } = formIn(await shown.text());
  const body = new URLSearchParams({ ...fields, decision: "allow" });
  const answer = await browser.go(action, { method: "POST", body, headers: { origin: world.admin } });
  return new URL(answer.headers.get("location")!);
}

test("oauth4webapi: a documented and a registered program, with PKCE, refresh and revocation", async () => {
  const issuer = new URL(world.admin);
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...HTTP }),
  );
  const registered = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      { redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" },
      HTTP,
    ),
  );
  for (const id of [documented, registered.client_id]) {
    const program: oauth.Client = { client_id: id };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const address = new URL(as.authorization_endpoint!);
    const query = {
      ...{ client_id: id, redirect_uri: REDIRECT, response_type: "code", scope: "models", state },
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const back = await allow(await signedIn(world), address);
    const callback = oauth.validateAuthResponse(as, program, back, state);
    const none = oauth.None();
    const asked = await oauth.authorizationCodeGrantRequest(
      as,
      program,
      none,
      callback,
      REDIRECT,
      verifier,
      HTTP,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, program, asked);
    expect(await callWith(world, tokens.access_token)).toBe(200);
    const again = await oauth.refreshTokenGrantRequest(as, program, none, tokens.refresh_token!, HTTP);
    const next = await oauth.processRefreshTokenResponse(as, program, again);
    expect(await callWith(world, next.access_token)).toBe(200);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, program, none, next.refresh_token!, HTTP),
    );
    expect(await callWith(world, next.access_token)).toBe(401);
  }
  {
    const address = new URL(as.authorization_endpoint!);
    const query = { client_id: documented, redirect_uri: REDIRECT, response_type: "code", state: "s" };
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const answer = await (await signedIn(world)).go(address.pathname + address.search);
    const back = new URL(answer.headers.get("location")!);
    expect(() => oauth.validateAuthResponse(as, { client_id: documented }, back, "s")).toThrow(
      /invalid_request|authorization response/,
    );
  }
});

test("openid-client: discovery, code with PKCE, device codes", async () => {
  const options = { execute: [client.allowInsecureRequests], algorithm: "oauth2" as const };
  const config = await client.discovery(new URL(world.admin), documented, undefined, client.None(), options);
  const verifier = client.randomPKCECodeVerifier();
  const address = client.buildAuthorizationUrl(config, {
    ...{ redirect_uri: REDIRECT, scope: "models", state: "s", code_challenge_method: "S256" },
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
  });
  const browser = await signedIn(world, {
    claims: { sub: "otto-1" },
    userinfo: { sub: "otto-1", groups: ["users"] },
  });
  const back = await allow(browser, address);
  const checks = { pkceCodeVerifier: verifier, expectedState: "s" };
  const tokens = await client.authorizationCodeGrant(config, back, checks);
  expect(await callWith(world, tokens.access_token)).toBe(200);
  const asked = await client.initiateDeviceAuthorization(config, { scope: "models" });
  const polling = client.pollDeviceAuthorizationGrant(config, asked);
  await press(browser, `/device?user_code=${asked.user_code}`, "allow");
  expect(await callWith(world, (await polling).access_token)).toBe(200);
});
