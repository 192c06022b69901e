/** Repeats beside what else keeps answers: stored answers, the response cache, captures. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noticed } from "../../../../test/helpers/cut-streams.ts";
import { droppedPlugin } from "../../../../test/helpers/dropped-plugin.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(30_000);

let gateway: RunningGateway;
let state: string;

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "weir-paid-once-"));
  gateway = await startGateway({
    config: {
      state,
      responses: { store: "on" },
      capture: { share: 1 },
      paidOnce: { enabled: true },
      log: { format: "json" },
      plugins: { "response-cache": { keys: ["*"], header: false, maxTemperature: "any" } },
    },
    // As a file, because the section of the cache is that of another feature.
    plugins: { "response-cache.js": await droppedPlugin("response-cache") },
  });
});

afterAll(async () => {
  await gateway.stop();
  await rm(state, { recursive: true, force: true });
});

function post(body: object, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    keepalive: false,
    ...(signal && { signal }),
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

test("an answer whose client left is stored once, under the id that the repeat gets", async () => {
  const body = { model: "mock/pace-15", input: "Hello", stream: true, store: true };
  const name = { "idempotency-key": "stored" };
  const controller = new AbortController();
  const first = await post(body, name, controller.signal);
  let begun = "";
  for await (const piece of first.body!) {
    begun += Buffer.from(piece).toString();
    if (begun.includes("output_text.delta")) break;
  }
  controller.abort();
  await noticed();
  const repeat = await post(body, name);
  const text = await repeat.text();
  expect(repeat.headers.get("x-weir-paid-once")).not.toBeNull();
  expect(text).toStartWith(begun);
  const id = /"id":"(resp_[^"]+)"/.exec(text)![1]!;
  const stored = await fetch(`${gateway.url}/v1/responses/${id}`);
  expect(stored.status).toBe(200);
  const next = await post({ model: "mock/recall", input: "And?", previous_response_id: id });
  expect(await next.text()).toContain("Hello");
});

test("a repeat gets the first answer also where a later equal question gets one from the cache", async () => {
  const body = { model: "mock/chat", input: "Cached?", store: false };
  const name = { "idempotency-key": "cached" };
  const first = await post(body, name);
  const text = await first.text();
  expect(first.headers.get("x-weir-cache")).toBe("miss");
  const repeat = await post(body, name);
  expect(repeat.headers.get("x-weir-paid-once")).toBe("finished");
  expect(repeat.headers.get("x-weir-cache")).toBe("miss");
  expect(await repeat.text()).toBe(text);
  const later = await post(body);
  expect(later.headers.get("x-weir-cache")).toBe("hit");
  expect(later.headers.get("x-weir-paid-once")).toBeNull();
});
