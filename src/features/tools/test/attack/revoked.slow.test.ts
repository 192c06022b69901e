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
    const refused = async () => {
      const { status: got, message } = await modern("alice").request("tools/call", { name: "echo" });
      return got === status && message["error"] !== undefined;
    };
    expect(await until(refused, 10_000)).toBe(true);
    const at = performance.now();
    const ended = await ends;
    // The workers reload one after the other.
    for (const one of ended) expect(one.at - at).toBeLessThan(1_500);
    expect(ended[0]!.last["error"]).toBeDefined();
    expect((await legacy.request("tools/call", { name: "echo" })).message["error"]).toBeDefined();
    expect(bobEnded).toBe(false);
    bob.abort();
  } finally {
    await gateway.end();
    fake.stop();
  }
});
