/** A gateway whose people sign in at a provider that the test plays, in front of a provider of models. */
import { expect } from "bun:test";
import { chatHost } from "../../../../../test/helpers/gateway.ts";
import { freePort, type Serving, serve, until } from "../../../../../test/helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../../../../test/helpers/upstream.ts";
import { CHAT_ANSWER } from "./answers.ts";
import { Issuer } from "./issuer.ts";

import { formIn } from "./programs.ts";
import { type Broken, Browser, CLIENT, FakeSignIn } from "./sign-in.ts";

export const ADMIN_KEY = "weir-planted-admin-0001";

/** Somebody who may use models. */
export const USER: Broken = { userinfo: { groups: ["users"] } };

export interface SigningGateway {
  readonly gateway: Serving;
  readonly upstream: Upstream;
  readonly issuer: Issuer;
  readonly provider: FakeSignIn;
  /** Address of the admin listener, which is that of weir's own tokens. */
  readonly admin: string;
  stop(): Promise<void>;
}

export interface SigningOptions {
  workers?: number;
  /** The option `identity.clients`. */
  clients?: object;
  /** Scopes that weir asks the provider for. */
  ask?: readonly string[];
  /** The option `identity.url`; default: the address of the admin listener. */
  url?: string;
  /** Default: free ones. */
  ports?: { readonly admin: number; readonly gateway: number };
}

export async function startSigning({
  workers = 1,
  clients,
  ask,
  url,
  ports,
}: SigningOptions = {}): Promise<SigningGateway> {
  const upstream = startUpstream(json(CHAT_ANSWER));
  const issuer = await Issuer.start("ES256");
  const provider = new FakeSignIn(issuer);
  const port = ports?.admin ?? freePort();
  const admin = `http://127.0.0.1:${port}`;
  const gateway = await serve({
    workers,
    ...(ports && { port: ports.gateway }),
    config: JSON.stringify({
      ...chatHost(upstream.url),
      log: { format: "json" },
      admin: { port },
      state: "state",
      adminKeys: [{ name: "boss", key: ADMIN_KEY, role: "admin" }],
      identity: {
        url: url ?? admin,
        tokens: { secret: "planted-secret-of-weirs-own-tokens-0001" },
        ...(clients && { clients }),
        providers: {
          corp: {
            ...{ issuer: issuer.url, client: CLIENT.id, secret: CLIENT.secret, ...(ask && { ask }) },
            groups: { users: { member: "/eng" }, readers: { viewer: "/" } },
          },
        },
      },
    }),
  });
  const isOn = async () => (await fetch(`${admin}/auth/`, { redirect: "manual" })).status === 200;
  expect(await until(isOn)).toBe(true);
  const stop = async () => {
    await gateway.end();
    await issuer.stop();
    upstream.stop();
  };
  return { gateway, upstream, issuer, provider, admin, stop };
}

export async function signedIn(
  { admin, provider }: Pick<SigningGateway, "admin" | "provider">,
  broken: Broken = USER,
): Promise<Browser> {
  const browser = new Browser(admin);
  expect((await browser.signIn(provider, broken)).status).toBe(303);
  return browser;
}

/** Presses a button of the form on a page. */
export async function press(browser: Browser, page: string, decision: string, init: RequestInit = {}) {
  const { action, fields } = formIn(await (await browser.go(page)).text());
  return browser.go(action, {
    method: "POST",
    body: new URLSearchParams({ ...fields, decision }),
    headers: { origin: browser.base },
    ...init,
  });
}

/** @returns the status of a call with a credential */
export async function callWith(
  { gateway }: { readonly gateway: { readonly url: string } },
  credential: string,
): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "host/some-model", messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return answer.status;
}
