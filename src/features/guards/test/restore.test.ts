/**
 * Real calls through a gateway whose guard replaces values: every client format, both lanes, whole answers and streams that cut
 * tokens anywhere. The client reads what it would have read without a guard, and the provider sees no value.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import {
  APIS,
  eventsIn,
  joined,
  LANES,
  leaksIn,
  provide,
  SAID,
  SIZES,
  SPOKEN,
} from "../../../../test/helpers/guarded.ts";
import { startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let state: string;
let gateway: RunningGateway;
const providers = new Map<string, Upstream>();

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "weir-guards-"));
  const config = Object.entries(SPOKEN).map(([format, client]) => {
    const upstream = startUpstream((request) => provide(client, request));
    providers.set(format, upstream);
    const baseUrl = format === "messages" ? upstream.url : `${upstream.url}/v1`;
    return [`p-${format}`, { speaks: format, baseUrl, apiKey: "k-1234567", models: ["m"] }];
  });
  gateway = await startGateway({
    config: {
      state,
      providers: Object.fromEntries(config),
      responses: { store: "on" },
      guards: {
        pii: { find: ["email", "card", { name: "key", pattern: 'ke"y\\\\9f' }], do: "replace" },
      },
      log: { format: "json" },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  for (const upstream of providers.values()) upstream.stop();
  await rm(state, { recursive: true, force: true });
});

async function ask(format: string, spoken: string, size: number, stream: boolean) {
  const { path, body } = APIS[format]!;
  const model = `p-${spoken}/m`;
  const response = await fetch(gateway.url + path(model, stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body(model, stream, `${SAID} of ${size}`)),
  });
  const text = await response.text();
  expect([response.status, response.status === 200 || text]).toEqual([200, true]);
  expect(response.headers.get("x-weir-guards")).toMatch(/^pii=replaced:\d+$/);
  return eventsIn(text);
}

describe("the client gets its values back", () => {
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      for (const [size, stream] of [...SIZES.map((size) => [size, true] as const), [200, false] as const]) {
        const prompt = `${SAID} of ${size}`;
        const { text, args } = APIS[format]!.read(await ask(format, spoken, size, stream));
        const said = format === "ollama-generate" ? undefined : { to: prompt };
        expect([size, stream, text, args]).toEqual([size, stream, prompt, said]);
      }
    });
});

test("a stored answer comes back with its values", async () => {
  const events = await ask("responses", "chat-completions", 3, false);
  const stored = await fetch(`${gateway.url}/v1/responses/${String(events[0]!["id"])}`);
  const body = (await stored.json()) as Parameters<typeof joined>[0][number];
  expect(joined([body], "output.*.content.*.text")).toBe(`${SAID} of 3`);
});

test("no provider and no line of the log has a value", () => {
  const sent = [...providers.values()].flatMap(({ requests }) => requests.map(({ body }) => String(body)));
  expect(sent.length).toBeGreaterThan(LANES.length * SIZES.length);
  expect(leaksIn(sent.join("\n"))).toEqual([]);
  expect(leaksIn(gateway.log.join("\n"))).toEqual([]);
});
