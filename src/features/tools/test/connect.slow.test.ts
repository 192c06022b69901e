/** A caller connects its account through a running gateway: the question in each era, the pages, and who is turned away. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { FakeAuthority, FakeGuarded } from "../../../../test/helpers/guarded-server.ts";
import { freePort, type Serving, serve } from "../../../../test/helpers/serving.ts";
import { askModern, openLegacy } from "../../../../test/helpers/tools-client.ts";

setDefaultTimeout(60_000);

const [ALICE, BOB] = ["weir-planted-key-alice", "weir-planted-key-bobby"];
const LINKS = { elicitation: { form: {}, url: {} } };
const CALL = { name: "echo", arguments: { word: "hello" } };

let authority: FakeAuthority;
let guarded: FakeGuarded;
let quick: FakeGuarded;
let gateway: Serving;
let url: string;

beforeAll(async () => {
  authority = new FakeAuthority();
  guarded = new FakeGuarded(authority);
  quick = new FakeGuarded(authority);
  quick.isModern = true;
  const port = freePort();
  url = `http://127.0.0.1:${port}`;
  gateway = await serve({
    ...{ workers: 2, port },
    config: JSON.stringify({
      ...{ log: { format: "json" }, state: "state" },
      keys: [
        { name: "alice", key: ALICE },
        { name: "bob", key: BOB },
      ],
      tools: {
        ...{ url, hosts: [authority.host], pin: "off" },
        servers: {
          files: { url: guarded.url, allow: ["*"], auth: { user: {} } },
          own: { url: guarded.url, allow: ["*"], auth: { clientHeader: "x-files-token" } },
          quick: { url: quick.url, allow: ["*"], auth: { user: {} } },
        },
      },
    }),
  });
});

afterAll(async () => {
  await gateway?.end();
  await Promise.all([authority.stop(), guarded.stop(), quick.stop()]);
});

const files = () => `${url}/mcp/files`;
const callModern = (key: string, more: object = {}, capabilities: object = LINKS) =>
  askModern(files(), key, { method: "tools/call", params: { ...CALL, ...more }, capabilities });

/** The link of a caller. */
async function linkOf(key: string): Promise<string> {
  const { result } = await callModern(key);
  return result.inputRequests["weir/connect"].params.url as string;
}

function post(link: string, form: Record<string, string>, origin = url) {
  const { origin: place, pathname, searchParams } = new URL(link);
  const body = new URLSearchParams({ t: searchParams.get("t")!, ...form });
  return fetch(place + pathname, { method: "POST", body, headers: { origin } });
}

/** The way of a browser with a key. @returns the answer to the way back */
async function walk(link: string, key: string, cookies?: string): Promise<Response> {
  const away = await post(link, { key });
  expect(away.status).toBe(200);
  const location = unescaped(/<a class="go" href="([^"]*)"/.exec(await away.text())![1]!);
  const cookie =
    cookies ??
    away.headers
      .getSetCookie()
      .map((set) => set.split(";")[0]!)
      .join("; ");
  const back = `${url}/mcp/oauth/callback?${new URLSearchParams(authority.consent(location))}`;
  return fetch(back, { headers: { cookie } });
}

const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

test("clients hear in their own way that an account is needed", async () => {
  const { result: asked } = await callModern(ALICE);
  expect(asked).toMatchObject({
    resultType: "input_required",
    inputRequests: {
      "weir/connect": {
        method: "elicitation/create",
        params: {
          mode: "url",
          url: expect.stringContaining(`${files().replace("/mcp/", "/mcp/connect/")}?t=`),
        },
      },
    },
  });
  const { result: plain } = await callModern(ALICE, {}, {});
  expect(plain).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("/mcp/connect/files?t=") }],
  });
  const declined = { inputResponses: { "weir/connect": { action: "decline" } } };
  expect((await callModern(ALICE, declined)).result).toMatchObject({ isError: true });
  const legacy = await openLegacy(`${url}/mcp`, ALICE, LINKS);
  const { error } = await legacy.ask("tools/call", { ...CALL, name: "files__echo" });
  expect(error).toMatchObject({ code: -32042, data: { elicitations: [{ mode: "url" }] } });
  const old = await openLegacy(`${url}/mcp`, ALICE);
  const { result } = await old.ask("tools/call", { ...CALL, name: "files__echo" });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("/mcp/connect/files?t=") }],
  });
  expect(guarded.seen.every((one) => one === null)).toBe(true);
});

test("who is not the caller cannot use its link, and neither can a page of another site", async () => {
  const link = await linkOf(ALICE);
  const page = await fetch(link);
  expect([page.status, page.headers.get("x-frame-options")]).toEqual([200, "DENY"]);
  expect(await page.text()).toContain('name="key"');
  expect((await post(link, { key: ALICE }, "https://evil.example")).status).toBe(403);
  for (const key of [BOB, "made-up", "", `${ALICE}x`]) expect((await post(link, { key })).status).toBe(403);
  expect(authority.asked).toEqual([]);
  expect((await walk(link, ALICE, "weir-connect-other=x")).status).toBe(403);
  expect(authority.asked).toEqual([]);
  expect((await fetch(link)).status).toBe(410);
  expect((await fetch(`${url}/mcp/connect/files?t=made-up`)).status).toBe(410);
  expect((await fetch(`${url}/mcp/connect/other?t=made-up`)).status).toBe(410);
});

test("after the way through the browser the call goes on, for this caller alone", async () => {
  const link = await linkOf(ALICE);
  const done = await walk(link, ALICE);
  expect([done.status, await done.text()]).toEqual([200, expect.stringContaining("is connected")]);
  const accepted = { inputResponses: { "weir/connect": { action: "accept" } } };
  const { result } = await callModern(ALICE, accepted);
  expect(JSON.stringify(result.content)).toContain("hello");
  expect(JSON.stringify(result.content)).not.toContain("weir/connect");
  const legacy = await openLegacy(`${url}/mcp`, ALICE);
  expect(JSON.stringify((await legacy.ask("tools/call", { ...CALL, name: "files__echo" })).result)).toContain(
    "hello",
  );
  expect((await callModern(BOB)).result.resultType).toBe("input_required");
  expect((await fetch(link)).status).toBe(410);
  const sent = guarded.seen.filter((one) => one !== null);
  expect(new Set(sent)).toEqual(new Set([`Bearer ${[...authority.access.keys()].at(-1)}`]));
});

test.each(["files", "quick"])(
  "each caller's requests carry its own token, also at once (%s)",
  async (server) => {
    const of = server === "quick" ? quick : guarded;
    const endpoint = `${url}/mcp/${server}`;
    const call = (key: string, word: string) =>
      askModern(endpoint, key, {
        ...{ method: "tools/call", params: { name: "echo", arguments: { word } } },
        capabilities: LINKS,
      });
    for (const key of [ALICE, BOB]) {
      const { result } = await call(key, "first");
      if (result.resultType === "input_required")
        expect((await walk(result.inputRequests["weir/connect"].params.url, key)).status).toBe(200);
      expect(JSON.stringify((await call(key, `mine-${key}`)).result.content)).toContain(`mine-${key}`);
    }
    of.bodies.length = 0;
    const words = Array.from(
      { length: 40 },
      (_, index) => [index % 2 === 0 ? ALICE : BOB, `word-${index}`] as const,
    );
    await Promise.all(
      words.map(async ([key, word]) =>
        expect((await call(key, `${key} ${word}`)).result.isError).toBeFalsy(),
      ),
    );
    const used = (key: string) =>
      new Set(
        of.bodies.flatMap(({ credential, text }) => (text.includes(`${key} word`) ? [credential] : [])),
      );
    expect([used(ALICE).size, used(BOB).size]).toEqual([1, 1]);
    expect([...used(ALICE)]).not.toEqual([...used(BOB)]);
  },
);

test("a client brings a credential of its own for a server, and that server alone gets it", async () => {
  const good = authority.give(guarded.url)["access_token"] as string;
  const ask = (server: string, headers: Record<string, string> = {}) =>
    askModern(`${url}/mcp/${server}`, ALICE, {
      ...{ method: "tools/call", params: CALL, capabilities: LINKS },
      headers,
    });
  const { result } = await ask("own", { "x-files-token": good });
  expect(JSON.stringify(result.content)).toContain("hello");
  expect((await ask("own", { "x-files-token": `Bearer ${good}` })).result.isError).toBeFalsy();
  expect((await ask("own")).error.message).toContain("in the header x-files-token is missing");
  expect((await ask("own", { "x-files-token": "made-up" })).error.message).toContain("is refused there");
  quick.seen.length = 0;
  await ask("quick", { "x-files-token": good });
  expect(quick.seen.some((one) => one?.includes(good))).toBe(false);
  expect(guarded.seen.some((one) => one?.includes(ALICE))).toBe(false);
});

test("no file below the state folder shows a token, and only this user can read it", () => {
  const folder = join(gateway.folder, "state");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const kept = names.filter((name) => name.includes("/tools/auth/"));
  expect(kept.length).toBeGreaterThanOrEqual(3);
  for (const name of names.filter((one) => statSync(one).isFile()))
    expect([name, readFileSync(name, "latin1").includes("planted-access")]).toEqual([name, false]);
  for (const name of kept) expect(statSync(name).mode & 0o077).toBe(0);
});

test("weir says who it is as a client", async () => {
  const answer = await fetch(`${url}/oauth/client.json`);
  expect(await answer.json()).toMatchObject({
    client_id: `${url}/oauth/client.json`,
    redirect_uris: [`${url}/mcp/oauth/callback`],
  });
});
