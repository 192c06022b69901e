/** Two gateways on one PostgreSQL: each shows the alerts of both, and each delivers what it saw itself. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startBooks } from "../../../../test/books/running.ts";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import type { AlertsView, TestSent } from "../contracts.ts";

setDefaultTimeout(120_000);

describe.skipIf(missingPostgres !== undefined)(`PostgreSQL (${missingPostgres ?? "present"})`, () => {
  test("the alert of one node and the test of the other are in the lists of both", async () => {
    const [server, hook] = [await startPostgres(), startReceiver()];
    const vendor = startUpstream(() => json({ error: { message: "no such key" } }, 401));
    const url = await server.createDatabase();
    const config = {
      ...{ store: { url }, retries: { attempts: 1 }, alerts: [{ to: `${hook.url}/token-canary` }] },
      providers: {
        host: { baseUrl: `${vendor.url}/v1`, speaks: "chat-completions", models: ["m"], apiKey: "k" },
      },
    };
    const nodes = [await startBooks({ workers: 2, config }), await startBooks({ workers: 2, config })];
    const listed = (at: number) => nodes[at]!.api.send<AlertsView>("GET", "/alerts");
    try {
      await ask(nodes[0]!.url, "host/m");
      expect(await until(async () => (await listed(1)).alerts.length === 1, 20_000)).toBe(true);
      const test = await nodes[1]!.api.send<TestSent>("POST", "/alerts/test", { body: {} });
      expect(test.sent).toEqual([expect.objectContaining({ to: `${hook.url}/…`, delivered: true })]);
      expect(await until(async () => (await listed(0)).alerts.length === 2, 20_000)).toBe(true);
      const [first, second] = [await listed(0), await listed(1)];
      expect(first).toEqual(second);
      expect(first.alerts.map(({ event, deliveries }) => [event, deliveries[0]!.result])).toEqual([
        ["test", "delivered"],
        ["credential", "delivered"],
      ]);
      expect(first.webhooks![0]!.last).toMatchObject({ alert: test.alert, event: "test" });
      expect(hook.received.length).toBe(2);
      expect(JSON.stringify(first)).not.toContain("canary");
    } finally {
      await Promise.all(nodes.map((node) => node.end()));
      await hook.stop();
      vendor.stop();
      await server.close();
    }
  });
});
