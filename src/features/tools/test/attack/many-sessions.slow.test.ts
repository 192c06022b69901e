/** Many sessions and many notifications: what stays, and who hears what. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { IS_STRESS } from "../../../../../test/helpers/effort.ts";
import { type FakeCall, fakeServer, text } from "../support/servers.ts";
import { LegacyClient, ModernClient } from "../support/clients.ts";
import { descriptorsOf, rssOf, serveTools, toolsProcess } from "./place.ts";

setDefaultTimeout(240_000);

const SESSIONS = IS_STRESS ? 10_000 : 2_500;
const AT_ONCE = 20;

test(`${SESSIONS} sessions come and go, and as many ids that are none are unknown`, async () => {
  const fake = fakeServer("legacy", { echo: () => text("here") });
  const gateway = await serveTools({ fake: { url: fake.url, allow: ["*"] } }, { workers: 2 });
  const url = `${gateway.url}/mcp/fake`;
  const each = async (count: number, work: (at: number) => Promise<void>) => {
    let next = 0;
    const run = async () => {
      for (let at = next++; at < count; at = next++) await work(at);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, run));
  };
  const session = async () => {
    const client = await LegacyClient.open({ url });
    await client.call("echo");
    const ended = await fetch(url, { method: "DELETE", headers: client.headers() });
    expect(ended.status).toBe(204);
  };
  try {
    const pid = await toolsProcess(gateway, session);
    await each(1_000, session);
    const before = { rss: rssOf(pid), descriptors: descriptorsOf(pid) };
    await each(SESSIONS, session);
    const statuses = new Set<number>();
    await each(SESSIONS, async () => {
      const headers = { "mcp-session-id": crypto.randomUUID(), "content-type": "application/json" };
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
      const got = await fetch(url, { method: "POST", headers, body });
      statuses.add(got.status);
      await got.text();
    });
    expect([...statuses]).toEqual([404]);
    // Idle connections to the server are kept for a while.
    for (let waited = 0; waited < 120 && descriptorsOf(pid) > before.descriptors; waited++)
      await Bun.sleep(1_000);
    const grown = (rssOf(pid) - before.rss) / 1024 / 1024;
    const descriptors = descriptorsOf(pid) - before.descriptors;
    console.log(
      `after ${SESSIONS} sessions and ${SESSIONS} unknown ids: ${grown.toFixed(1)} MB, ${descriptors} descriptors`,
    );
    expect(descriptors).toBeLessThanOrEqual(2);
    expect(grown).toBeLessThan(64);
  } finally {
    await gateway.end();
    fake.stop();
  }
});

test("clients that all use the token 1 hear of their own progress alone", async () => {
  const steps = 500;
  const marked = async ({ args, params, notify }: FakeCall) => {
    const { progressToken } = params["_meta"] as { progressToken: number };
    for (let progress = 1; progress <= steps; progress++) {
      notify("notifications/progress", { progressToken, progress, message: String(args["mark"]) });
      if (progress % 50 === 0) await Bun.sleep(1);
    }
    return text("done");
  };
  const kinds = ["modern", "legacy"] as const;
  const fakes = kinds.map((kind) => fakeServer(kind, { marked }));
  const shared = { allow: ["*"], isolation: "shared" };
  const gateway = await serveTools(
    Object.fromEntries(kinds.map((kind, at) => [kind, { url: fakes[at]!.url, ...shared }])),
    { workers: 2 },
  );
  let heard = 0;
  try {
    await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const url = `${gateway.url}/mcp/${kinds[at % 2]}`;
        const notified = (_method: string, params: object) => {
          expect(params).toMatchObject({ progressToken: 1, message: `of ${at}` });
          heard++;
        };
        const meta = { progressToken: 1 };
        const args = { mark: `of ${at}` };
        for (let round = 0; round < 5; round++)
          if (at % 4 < 2) await new ModernClient({ url, notified }).call("marked", args, { meta });
          else await (await LegacyClient.open({ url, notified })).call("marked", args, meta);
      }),
    );
    expect(heard).toBe(40 * 5 * steps);
  } finally {
    await gateway.end();
    for (const fake of fakes) fake.stop();
  }
});
