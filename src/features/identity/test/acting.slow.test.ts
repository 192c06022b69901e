/** Calls on behalf of people: whom a key may name, what is booked where, and that nobody else is heard. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { chatHost } from "../../../../test/helpers/gateway.ts";
import { personId } from "../people.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { Issuer } from "./support/issuer.ts";

setDefaultTimeout(60_000);

const [ACTS, PLAIN, NARROW] = ["acts", "plain", "narrow"].map((name) => `weir-planted-${name}-00001`) as [
  string,
  string,
  string,
];
let upstream: Upstream;
let issuer: Issuer;
let gateway: Serving;

beforeAll(async () => {
  upstream = startUpstream(json(CHAT_ANSWER));
  issuer = await Issuer.start("ES256");
  gateway = await serve({
    workers: 2,
    config: JSON.stringify({
      ...chatHost(upstream.url),
      ...{ log: { format: "json" }, state: "state" },
      keys: [
        { name: "portal", key: ACTS, path: "/people", act: true },
        { name: "plain", key: PLAIN, path: "/people" },
        { name: "narrow", key: NARROW, path: "/people/team", act: true },
      ],
      prices: { "host/*": { input: 100, output: 1_000 } },
      rates: { slow: { on: "/people/bob", rpm: 1 } },
      identity: {
        providers: {
          okta: { issuer: issuer.url, audience: "weir", groups: { users: { member: "/" } } },
        },
      },
    }),
  });
  const token = (sub: string, more: object = {}) =>
    issuer.token({
      sub,
      name: sub,
      email: `${sub}@corp.example`,
      email_verified: true,
      groups: ["users"],
      ...more,
    });
  for (const text of [
    await token("alice"),
    await token("bob"),
    await token("carol", { email_verified: undefined }),
    await token("twin-1", { email: "twin@corp.example" }),
    await token("twin-2", { email: "twin@corp.example" }),
  ])
    expect((await ask({ authorization: `Bearer ${text}` })).status).toBe(200);
  const isKnown = () => gateway.run("people", "list", "--json").output.split('"per_').length > 5;
  expect(await until(async () => isKnown())).toBe(true);
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
  upstream?.stop();
});

/** Over a connection of its own: the system gives it to one of the workers. */
async function ask(headers: Record<string, string>, path = "/v1/chat/completions") {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close", ...headers },
    body: JSON.stringify({ model: "host/some-model", messages: [{ role: "user", content: "hi" }] }),
    keepalive: false,
  });
  return {
    status: answer.status,
    told: answer.headers.get("x-weir-person"),
    body: (await answer.json()) as any,
  };
}

const as = (key: string, person: string) => ask({ authorization: `Bearer ${key}`, "x-weir-person": person });
const idOf = (sub: string) => personId(issuer.url, sub);

/** The newest call in the books. */
const newest = async () =>
  JSON.parse((await gateway.runBeside("logs", "--last", "1", "--json")).output)[0] as any;

test("an id and a verified address name a person; the call has person, path and key", async () => {
  for (const name of [idOf("alice"), "alice@corp.example", " Alice@CORP.example "]) {
    const { status, told } = await as(ACTS, name);
    expect([name, status, told]).toEqual([name, 200, idOf("alice")]);
  }
  await Bun.sleep(500);
  const call = await newest();
  expect(call).toMatchObject({
    person: idOf("alice"),
    path: "/people/alice",
    personName: "alice",
    via: "act",
  });
  expect(call.keyName ?? call.key).toContain("portal");
});

test("nobody is named without the header, and nobody is heard without the right", async () => {
  const own = await ask({ authorization: `Bearer ${ACTS}` });
  expect([own.status, own.told]).toEqual([200, null]);
  const plain = await as(PLAIN, idOf("alice"));
  expect([plain.status, plain.told]).toEqual([200, "ignored"]);
  const token = await issuer.token({
    sub: "bob",
    email: "bob@corp.example",
    email_verified: true,
    groups: ["users"],
  });
  const byToken = await as(token, idOf("alice"));
  expect([byToken.told, byToken.status === 200 || byToken.status === 429]).toEqual(["ignored", true]);
});

test("the limits of the person's path count the call", async () => {
  const answers = [];
  for (let n = 0; n < 6; n++) answers.push((await as(ACTS, "bob@corp.example")).status);
  expect(answers.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
  expect((await as(ACTS, "alice@corp.example")).status).toBe(200);
});

test("people of other places, unknown ones and ambiguous names are refused alike", async () => {
  const refused: string[] = [];
  const names = [
    ...["nobody@corp.example", "carol@corp.example", "twin@corp.example", `per_${"0".repeat(32)}`],
    ...["", "per_1", "alice", "*", "%", "_@corp.example", "' OR 1=1 --@x", `${"a".repeat(300)}@corp.example`],
  ];
  for (const name of names) {
    const { status, body } = await as(ACTS, name);
    refused.push(`${status} ${body.error.code}`);
  }
  expect(new Set(refused)).toEqual(new Set(["403 person_unknown"]));
  const outside = await as(NARROW, idOf("alice"));
  expect([outside.status, outside.body.error.code]).toEqual([403, "person_unknown"]);
  expect(outside.body.error.message).toBe((await as(NARROW, `per_${"0".repeat(32)}`)).body.error.message);
});

test("a person who is suspended or moved is so for those who call in its name, at once", async () => {
  expect((await as(ACTS, idOf("alice"))).status).toBe(200);
  expect(gateway.run("people", "suspend", idOf("alice")).code).toBe(0);
  for (let n = 0; n < 6; n++) {
    const { status, body } = await as(ACTS, idOf("alice"));
    expect([status, body.error.code]).toEqual([403, "person_suspended"]);
  }
  expect(gateway.run("people", "restore", idOf("alice")).code).toBe(0);
  expect((await as(ACTS, idOf("alice"))).status).toBe(200);
  expect(gateway.run("people", "grant", idOf("alice"), "--path", "/elsewhere").code).toBe(0);
  for (let n = 0; n < 6; n++) expect((await as(ACTS, idOf("alice"))).status).toBe(403);
});
