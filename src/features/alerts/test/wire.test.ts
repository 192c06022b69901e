/** Alerts over real sockets: what a receiver gets. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chatHost, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../../../../test/helpers/gateway.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

test("alerts tell of a budget, of a deployment that fails and of a refused credential, signed", async () => {
  const refusing = startUpstream(() => json({ error: { message: "no" } }, 401));
  const failing = startUpstream(() => json({ error: { message: "busy" } }, 503));
  const receiver = startReceiver();
  const running = await startGateway({
    config: {
      state: "none",
      workers: 1,
      alerts: [{ to: `${receiver.url}/hook/token`, secret: "shared" }],
      providers: {
        ...upstreamConfig({ openai: refusing.url }).providers,
        ...chatHost(failing.url).providers,
      },
      prices: { "mock/*": { input: 0, output: 0, request: 0.01 } },
      budgets: { eng: { on: "all", every: "total", limit: 0.02, mode: "watch", alerts: [50] } },
      retries: { attempts: 1 },
    },
  });
  try {
    await running.opened();
    await ask(running.url, "mock/chat");
    await ask(running.url, "openai/gpt-5.4");
    for (let call = 0; call < 4; call++) await ask(running.url, "host/some-model");
    const events = () =>
      receiver.received.map(({ body }) => {
        const { event, state, subject } = JSON.parse(body) as Record<string, string>;
        return `${event} ${state} ${subject}`;
      });
    expect(await until(() => events().length >= 3, 10_000)).toBe(true);
    expect(events().sort()).toEqual([
      "breaker begins host",
      "budget reached eng",
      "credential begins openai",
    ]);
    for (const { path, headers, body } of receiver.received) {
      expect(path).toBe("/hook/token");
      expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
      expect(body).not.toContain("hello");
      expect(body).not.toContain(UPSTREAM_KEYS.openai);
    }
  } finally {
    await running.stop();
    await receiver.stop();
    refusing.stop();
    failing.stop();
  }
});
