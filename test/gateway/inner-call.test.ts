/** Calls that a part makes for a caller: they pass what calls of clients pass, and are booked to the caller. */
import { expect, test } from "bun:test";
import type { Attempt, Call } from "../../src/core/call.ts";
import { GatewayError } from "../../src/core/error.ts";
import type { WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

const KEY = "sk-of-weir-inner-1234567";
const PRICE = { input: 1, output: 2 };

/** A part that gives its host away, and notes what was charged. */
async function startedWith(config: Record<string, unknown>) {
  let host!: WorkerHost;
  const ended: { call: Call; cost: number }[] = [];
  const start = (given: WorkerHost): WorkerPart => {
    host = given;
    return {
      seams: () => ({}),
      recorder: () => (call: Call, attempts: readonly Attempt[]) =>
        void ended.push({ call, cost: given.ledger.charged!(attempts) }),
    };
  };
  const gateway: RunningGateway = await startGateway({
    config: { log: { format: "json" }, ...config },
    workers: [{ name: "caller", load: async () => ({ start }) }],
  });
  return { gateway, host, ended };
}

const request = (content = "hello", signal?: AbortSignal) =>
  new Request("http://weir/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content }] }),
    ...(signal && { signal }),
  });

test("a call of a part is one of its caller, and what it was charged is known", async () => {
  const { gateway, host, ended } = await startedWith({
    keys: [{ name: "eng", key: KEY, path: "/eng" }],
    prices: { "mock/echo": PRICE },
    limits: { callsPerClient: 1 },
  });
  try {
    expect(host.isOpen()).toBe(false);
    expect(host.callerOfKey("config:nobody")).toBeUndefined();
    const principal = host.callerOfKey("config:eng")!;
    expect(principal).toMatchObject({ name: "eng", path: "/eng" });
    const begun: Call[] = [];
    const inner = { principal, address: "10.1.2.3", begins: (call: Call) => void begun.push(call) };
    const answers = await Promise.all([1, 2, 3].map(() => host.call(request(), inner)));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "hello" } }] });
    }
    expect(begun.length).toBe(3);
    expect(ended.length).toBe(3);
    for (const { call, cost } of ended) {
      expect(begun).toContain(call);
      const { input, output } = call.attempt!.usage;
      expect(cost).toBe((input * PRICE.input + output * PRICE.output) * 1_000);
    }
    for (const { call } of ended) expect(call.principal).toBe(principal);
  } finally {
    await gateway.stop();
  }
});

test("a call of a part is held to the scopes of its caller, and ends with its signal", async () => {
  const scopes = { addresses: ["10.0.0.0/8"], endpoints: ["chat-completions"] };
  const { gateway, host, ended } = await startedWith({ keys: [{ name: "eng", key: KEY, ...scopes }] });
  try {
    const principal = host.callerOfKey("config:eng");
    const begins = () => {};
    const refused = await host.call(request(), { principal, address: "192.0.2.1", begins });
    expect(refused.status).toBe(403);
    const stop = new AbortController();
    const left = host.call(request("hello", stop.signal), {
      ...{ principal, address: "10.0.0.1" },
      begins: () => stop.abort(new GatewayError("cancelled", "The batch was cancelled.")),
    });
    await left.catch(() => {});
    expect(ended.at(-1)!.call.outcome).toBe("cancelled");
  } finally {
    await gateway.stop();
  }
});

test("while calls need no key, a part needs none", async () => {
  const { gateway, host } = await startedWith({});
  try {
    expect(host.isOpen()).toBe(true);
    const answer = await host.call(request(), { principal: undefined, address: "127.0.0.1", begins() {} });
    expect(answer.status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
