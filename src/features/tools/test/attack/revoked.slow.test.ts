/** What a caller may use changes while it has streams open. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { serve, until } from "../../../../../test/helpers/serving.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { LegacyClient, messagesOf, ModernClient, textOf } from "../support/clients.ts";
import { fakeServer, text } from "../support/servers.ts";

setDefaultTimeout(120_000);

const KEYS = { alice: "sk-alice-of-the-tools-0123456789", bob: "sk-bob-of-the-tools-0123456789ab" };
const hashed = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("hex");
const key = (name: keyof typeof KEYS, more: JsonObject = {}): JsonObject => ({
  ...{ name, sha256: hashed(KEYS[name]), path: "/eng" },
  ...more,
});

/** Longest time from a change until a stream has ended. Milliseconds. */
const MOST_MS = 1_000;

/** When a stream ended. */
async function endOf(response: Response): Promise<{ at: number; last: JsonObject }> {
  let last: JsonObject = {};
  try {
    for await (const message of messagesOf(response)) last = message;
  } catch {
    // A connection that is cut is an end.
  }
  return { at: performance.now(), last };
}

test.each([
  ["a key that is taken out", (): JsonObject[] => [key("bob")], {}, 401],
  [
    "a key that may use less",
    (): JsonObject[] => [key("alice", { tools: ["fake__other"] }), key("bob")],
    {},
    200,
  ],
  ["a key without its server", (): JsonObject[] => [key("alice"), key("bob")], { allow: ["bob"] }, 404],
] as [string, () => JsonObject[], JsonObject, number][])("%s", async (_, keys, changed, status) => {
  const fake = fakeServer("modern", { echo: () => text("here"), other: () => text("other") });
  const server = { url: fake.url, allow: ["alice", "bob"] };
  const written = (all: JsonObject[], more: JsonObject) => ({
    ...{ log: { format: "json" }, keys: all },
    tools: { pin: "off", servers: { fake: { ...server, ...more } } },
  });
  const before = written([key("alice"), key("bob")], {});
  const gateway = await serve({ workers: 2, config: JSON.stringify(before) });
  try {
    const url = `${gateway.url}/mcp/fake`;
    const modern = (name: keyof typeof KEYS) => new ModernClient({ url, key: KEYS[name] });
    expect(await until(async () => textOf(await modern("alice").call("echo")) === "here", 20_000)).toBe(true);
    const legacy = await LegacyClient.open({ url, key: KEYS.alice });
    const listen = (client: ModernClient) =>
      client.send("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const streams = [await listen(modern("alice")), await fetch(url, { headers: legacy.headers() })];
    const ends = Promise.all(streams.map(endOf));
    let bobEnded = false;
    const bob = new AbortController();
    void modern("bob")
      .send("subscriptions/listen", { notifications: { toolsListChanged: true } }, { signal: bob.signal })
      .then(endOf)
      .then(() => (bobEnded = true));
    await Bun.sleep(1_200);
    gateway.configure(JSON.stringify(written(keys(), changed)));
    gateway.signal("SIGHUP");
    const isReloaded = () => gateway.log.some((line) => line.includes("the configuration was reloaded"));
    expect(await until(isReloaded, 10_000)).toBe(true);
    const at = performance.now();
    const { status: got, message } = await modern("alice").request("tools/call", { name: "echo" });
    expect([got, message["error"] !== undefined]).toEqual([status, true]);
    const ended = await ends;
    for (const one of ended) expect(one.at - at).toBeLessThan(MOST_MS);
    expect(ended[0]!.last["error"]).toBeDefined();
    expect((await legacy.request("tools/call", { name: "echo" })).message["error"]).toBeDefined();
    expect(bobEnded).toBe(false);
    bob.abort();
  } finally {
    await gateway.end();
    fake.stop();
  }
});

test("a key of the store that is revoked while its caller has streams open at two workers", async () => {
  const fake = fakeServer("modern", { echo: () => text("here") });
  const config = { tools: { pin: "off", servers: { fake: { url: fake.url, allow: ["*"] } } } };
  const gateway = await serve({ workers: 2, config: JSON.stringify(config) });
  try {
    const created = async (name: string) => {
      const { output } = await gateway.runBeside("keys", "create", name, "--json");
      return /"secret":\s*"([^"]+)"/.exec(output)![1]!;
    };
    const [alice, bob] = [await created("alice"), await created("bob")];
    const url = `${gateway.url}/mcp/fake`;
    const listen = (key: string) =>
      new ModernClient({ url, key }).send(
        "subscriptions/listen",
        { notifications: { toolsListChanged: true } },
        { headers: { connection: "close" } },
      );
    const legacy = await LegacyClient.open({ url, key: alice });
    const streams = await Promise.all(Array.from({ length: 6 }, () => listen(alice)));
    streams.push(await fetch(url, { headers: legacy.headers() }));
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    const ends = Promise.all(streams.map(endOf));
    const others = await listen(bob);
    let bobEnded = false;
    const bobs = endOf(others).then(() => (bobEnded = true));
    await Bun.sleep(500);
    const revoked = await gateway.runBeside("keys", "revoke", "alice", "--yes");
    const at = performance.now();
    expect(revoked.code).toBe(0);
    const refused = async () => (await new ModernClient({ url, key: alice }).request("tools/list")).status;
    expect(await Promise.all(Array.from({ length: 6 }, refused))).toEqual(Array(6).fill(401));
    expect((await legacy.request("ping")).status).toBe(401);
    const ended = await ends;
    for (const one of ended) expect(one.at - at).toBeLessThan(MOST_MS);
    for (const { last } of ended.slice(0, 6)) expect(last["error"]).toBeDefined();
    expect(bobEnded).toBe(false);
    await gateway.end();
    await bobs;
  } finally {
    await gateway.end();
    fake.stop();
  }
});
