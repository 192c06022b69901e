/** Managed settings: documents by path, their checksum, and the endpoint over sockets. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { canonical, isUnchanged, ManagedSettings } from "../claude-code/managed-settings.ts";
import { bearer, IDENTITY, tokenOf } from "./support/signed-in.ts";

setDefaultTimeout(60_000);

const ROOT = {
  permissions: { deny: ["WebFetch"], allow: ["Read"] },
  env: { A: "1", B: "1" },
  futureMember: { x: [1] },
};
const ENG = {
  permissions: { deny: ["Bash(rm *)", "WebFetch"], allow: ["Edit"], defaultMode: "plan" },
  env: { B: "2" },
  availableModels: ["opus"],
};

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      providers: { host: { baseUrl: "http://127.0.0.1:9", speaks: "chat-completions", models: ["a", "b"] } },
      limits: { callsPerClient: 1 },
      identity: {
        ...IDENTITY,
        clients: {
          "claude-code": { settings: { "/eng": ENG, "/people": ROOT, "/eng/search": { env: {} } } },
        },
      },
    },
  });
});
afterAll(() => gateway.stop());

const ask = (token: string | undefined, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/managed/settings`, { headers: { ...(token && bearer(token)), ...headers } });

const settingsIn = (managed: ManagedSettings, path: string) => {
  const document = managed.of(path, undefined);
  return document && (JSON.parse(document.body) as { settings: unknown }).settings;
};

test("settings are merged from the root downwards, and no path below loses a rule that forbids", () => {
  const managed = new ManagedSettings({ "/eng": ENG, "/": ROOT });
  expect(settingsIn(managed, "/ops")).toEqual(ROOT);
  expect(settingsIn(managed, "/engine")).toEqual(ROOT);
  expect(settingsIn(managed, "/eng/search")).toEqual({
    permissions: { deny: ["WebFetch", "Bash(rm *)"], allow: ["Edit"], defaultMode: "plan" },
    env: { A: "1", B: "2" },
    futureMember: { x: [1] },
    availableModels: ["opus"],
  });
  const hooks = (command: string) => ({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } });
  const hooked = new ManagedSettings({ "/": hooks("a"), "/eng": hooks("b") });
  expect(settingsIn(hooked, "/eng")).toEqual({
    hooks: { PreToolUse: [...hooks("a").hooks.PreToolUse, ...hooks("b").hooks.PreToolUse] },
  });
  const hostile = JSON.parse('{"env": {"__proto__": {"polluted": "1"}}}') as object;
  const polluted = new ManagedSettings({ "/": hostile, "/eng": { env: { A: "1" } } });
  expect(polluted.of("/eng", undefined)!.body).toContain('"__proto__":{"polluted":"1"}');
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("nothing is nothing, and empty settings are an empty policy", () => {
  const managed = new ManagedSettings({ "/eng": {} });
  expect(managed.of("/ops", undefined)).toBeUndefined();
  expect(settingsIn(managed, "/eng")).toEqual({});
});

test("the checksum is that of sorted JSON, whatever the order of the config", () => {
  const one = new ManagedSettings({ "/": { b: { d: 1, c: [{ z: 1, a: null }] }, a: "é" } }).of("/", ["m"])!;
  const two = new ManagedSettings({ "/": { a: "é", b: { c: [{ a: null, z: 1 }], d: 1 } } }).of("/", ["m"])!;
  const text = '{"a":"é","availableModels":["m"],"b":{"c":[{"a":null,"z":1}],"d":1}}';
  const checksum = `sha256:${createHash("sha256").update(text).digest("hex")}`;
  expect([one.etag, two.etag]).toEqual([`"${checksum}"`, `"${checksum}"`]);
  expect(one.body).toBe(`{"uuid":"${checksum}","checksum":"${checksum}","settings":${text}}`);
  expect(canonical({ "\u{10000}": 1, "\uffff": 2, x: undefined, y: -0 })).toBe(
    '{"y":0,"\u{10000}":1,"\uffff":2}',
  );
});

test("only a condition that names the document spares the body", () => {
  for (const [condition, holds] of [
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b"', false],
    ["a", false],
    ["*", false],
    ["", false],
    [null, false],
  ] as const)
    expect([condition, isUnchanged(condition, '"a"')]).toEqual([condition, holds]);
});

test("a person gets the document, and 304 only for a condition", async () => {
  const token = await tokenOf("alice");
  const first = await ask(token);
  const body = (await first.json()) as { uuid: string; checksum: string; settings: object };
  expect(body.settings).toEqual(ROOT);
  const etag = first.headers.get("etag")!;
  expect([first.status, etag, body.uuid]).toEqual([200, `"${body.checksum}"`, body.checksum]);
  const again = await ask(token, { "if-none-match": etag });
  expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
  expect((await ask(token, { "if-none-match": '"sha256:old"' })).status).toBe(200);
  expect((await ask(token, { "if-none-match": "*" })).status).toBe(200);
  expect((await ask(token)).status).toBe(200);
  expect(first.headers.has("x-cc-gateway-version")).toBe(false);
  const all = await Promise.all(Array.from({ length: 200 }, () => ask(token)));
  expect([...new Set(all.map(({ status }) => status))]).toEqual([200]);
});

test("scopes become the list of models, unless the settings have one", async () => {
  const scoped = await tokenOf("bob", { scope: "models:host/a models:claude-sonnet-4-5" });
  expect(((await (await ask(scoped)).json()) as any).settings.availableModels).toEqual([
    "claude-sonnet-4-5",
    "host/a",
  ]);
  const written = await tokenOf("carol", { path: "/eng", scope: "models:host/a" });
  expect(((await (await ask(written)).json()) as any).settings.availableModels).toEqual(["opus"]);
  const only = await tokenOf("dora", { path: "/ops", scope: "models:host/*" });
  expect(((await (await ask(only)).json()) as any).settings).toEqual({
    availableModels: ["a", "b"],
  });
});

test("404 where nothing is configured, 401 without a person, and a client does not repeat it", async () => {
  const nobody = await tokenOf("erin", { path: "/ops" });
  expect((await ask(nobody)).status).toBe(404);
  expect((await ask(nobody, { "if-none-match": "*" })).status).toBe(404);
  const expired = await tokenOf("alice", {}, () => Date.now() - 3_700_000);
  for (const token of [undefined, "weir_sk_0123456789abcdef", expired, `${nobody}x`, "a.b.c"]) {
    const refused = await ask(token);
    const body = (await refused.json()) as any;
    expect([token, refused.status, body.error.type]).toEqual([token, 401, "authentication_error"]);
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect(refused.headers.has("www-authenticate")).toBe(true);
  }
});

test("with claude-code off the paths do not exist", async () => {
  const other = await startGateway({
    config: { identity: { ...IDENTITY, clients: { "claude-code": false } } },
  });
  try {
    const answer = await fetch(`${other.url}/managed/settings`, { headers: bearer(await tokenOf("alice")) });
    expect(answer.status).toBe(404);
  } finally {
    await other.stop();
  }
});
