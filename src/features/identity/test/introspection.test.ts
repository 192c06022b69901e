/** Tokens that their issuer may end early: each is asked about once a minute, and a refusal is final. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { fetchDocument } from "../fetch-document.ts";
import { Introspection } from "../tokens/introspection.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { Issuer } from "./support/issuer.ts";
import { faultOf, loadSection } from "./support/load.ts";

setDefaultTimeout(60_000);

const SECRET = "planted-introspection-secret-+%";
let issuer: Issuer;
let upstream: Upstream;
let gateway: RunningGateway;
/** What was asked, and the answer. */
const asked: URLSearchParams[] = [];
let answer: (form: URLSearchParams) => Response = () => Response.json({ active: true });

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  issuer.answer = async (request, { pathname }) => {
    if (pathname !== "/introspect") return undefined;
    const pair = Buffer.from(request.headers.get("authorization")!.slice(6), "base64").toString();
    if (pair !== `weir:${encodeURIComponent(SECRET)}`) return new Response("", { status: 401 });
    const form = new URLSearchParams(await request.text());
    asked.push(form);
    return answer(form);
  };
  upstream = startUpstream(json(CHAT_ANSWER));
  gateway = await startGateway({
    config: {
      ...chatHost(upstream.url),
      identity: {
        jwt: [
          {
            ...{ issuer: issuer.url, audience: "weir", path: "/ci/{sub}", name: "ci" },
            introspect: { url: `${issuer.url}/introspect`, client: "weir", secret: SECRET },
          },
        ],
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await issuer.stop();
  upstream.stop();
});

beforeEach(() => {
  asked.length = 0;
  answer = () => Response.json({ active: true });
});

const endpoint = () => ({ url: `${issuer.url}/introspect`, client: "weir", secret: SECRET });

async function call(token: string) {
  const body = JSON.stringify({ model: "host/some-model", messages: [{ role: "user", content: "hi" }] });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const said = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
  return { status: said.status, code: ((await said.json()) as any).error?.code };
}

test("a call with a token that is active is admitted, and asks once; one that is not is refused", async () => {
  const token = await issuer.token({ sub: "a" });
  for (let n = 0; n < 3; n++) expect((await call(token)).status).toBe(200);
  expect(asked.map((form) => form.get("token"))).toEqual([token]);
  answer = () => Response.json({ active: false });
  expect(await call(await issuer.token({ sub: "b" }))).toEqual({ status: 401, code: "token_revoked" });
  answer = () => new Response("", { status: 500 });
  expect(await call(await issuer.token({ sub: "c" }))).toMatchObject({
    status: 503,
    code: "token_unchecked",
  });
  // Nobody is asked about a token that is none.
  asked.length = 0;
  expect((await call(`${token.slice(0, -8)}AAAAAAAA`)).status).toBe(401);
  expect(asked.length).toBe(0);
});

/** With a clock of its own. */
function introspection() {
  let now = 1_000_000;
  const made = new Introspection(fetchDocument, () => now);
  const ask = (text: string) =>
    made.expectActive(endpoint(), text).then(
      () => "active",
      (cause: { reason: string }) => cause.reason,
    );
  return { ask, wait: (ms: number) => (now += ms) };
}

test("an answer counts for a minute, and for the whole token alone", async () => {
  const { ask, wait } = introspection();
  const same = "a".repeat(200);
  answer = (form) => Response.json({ active: form.get("token") === `${same}1` });
  for (let n = 0; n < 3; n++) expect(await ask(`${same}1`)).toBe("active");
  expect(await ask(`${same}2`)).toBe("revoked");
  expect(asked.length).toBe(2);
  wait(60_000);
  answer = () => Response.json({ active: false });
  expect(await ask(`${same}1`)).toBe("revoked");
});

test("an issuer that is away is believed for five minutes, is asked again after a pause, and its refusal ends that", async () => {
  const { ask, wait } = introspection();
  expect(await ask("x")).toBe("active");
  const away = [
    () => new Response("", { status: 503 }),
    () => Response.json({}),
    () => Response.json({ active: "true" }),
    () => new Response("active"),
    () => new Response(null, { status: 302, headers: { location: "https://evil.example" } }),
  ];
  wait(60_000);
  for (const one of away) {
    answer = one;
    const before = asked.length;
    expect([await ask("x"), await ask("x"), asked.length - before]).toEqual(["active", "active", 1]);
    wait(10_000);
  }
  wait(200_000);
  expect(await ask("x")).toBe("unavailable");
  answer = () => Response.json({ active: false });
  wait(10_000);
  expect(await ask("x")).toBe("revoked");
  answer = () => new Response("", { status: 503 });
  expect(await ask("x")).toBe("unavailable");
});

test("the option is an address of this machine or https, and the config shows no secret", () => {
  const of = (url: string) => ({
    jwt: [
      {
        ...{ issuer: "https://login.example", audience: "weir", path: "/ci/{sub}" },
        introspect: { url, client: "weir", secret: SECRET },
      },
    ],
  });
  expect(faultOf(of("https://login.example/introspect"))).toBeUndefined();
  expect(faultOf(of("http://login.example/introspect"))).toContain("url must begin with https://");
  expect(JSON.stringify(loadSection(of("https://login.example/introspect")))).not.toContain(SECRET);
});
