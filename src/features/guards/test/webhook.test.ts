/** A guard that asks a service in weir's own form. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Json, JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import {
  json,
  startUpstream,
  type Upstream,
  type UpstreamRequest,
} from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

const open: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const one of open) await one.stop();
});

interface Asked {
  readonly texts: readonly { readonly index: number; readonly path: string; readonly text: string }[];
}

function service(answer: (asked: Asked, request: UpstreamRequest) => Json): Upstream {
  const upstream = startUpstream((request) =>
    json(answer(JSON.parse(request.body.toString()) as Asked, request)),
  );
  open.push(upstream);
  return upstream;
}

async function gatewayWith(guards: JsonObject): Promise<RunningGateway> {
  const gateway = await startGateway({ config: { guards, log: { format: "json" } } });
  open.push(gateway);
  return gateway;
}

const say = ({ url }: RunningGateway, content: string, more: JsonObject = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content }], ...more }),
  });

/** A service that finds a word. */
const finding = (word: string, more: JsonObject = {}) =>
  service(({ texts }) => ({
    verdict: "pass",
    findings: texts.flatMap(({ index, text }) => {
      const start = text.indexOf(word);
      return start < 0 ? [] : [{ index, start, end: start + word.length, type: "NAME", ...more }];
    }),
  }));

test("what a service finds is replaced for the provider, and comes back to the client", async () => {
  const names = finding("Zoë");
  const gateway = await gatewayWith({ names: { webhook: names.url, do: "replace", on: ["input"] } });
  const response = await say(gateway, "Zoë wrote Zoës book, says Zoë.");
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  expect(body.choices[0]!.message.content).toContain("Zoë wrote Zoës book, says Zoë.");
  expect(response.headers.get("x-weir-guards")).toBe("names=replaced:1");
  const asked = JSON.parse(names.requests[0]!.body.toString()) as JsonObject;
  expect(asked).toMatchObject({
    version: 1,
    phase: "input",
    call: { path: "/", model: "mock/echo", format: "chat-completions", stream: false },
    texts: [{ index: 0, kind: "text", role: "user", path: "messages[0].content" }],
    final: true,
  });
});

test("a guard asks about what the guards before it made", async () => {
  const seen = service(() => ({ verdict: "pass" }));
  const gateway = await gatewayWith({
    pii: { find: ["email"], do: "mask", on: ["input"] },
    asks: { find: ["card", { webhook: seen.url }], do: "block", on: ["input"] },
  });
  expect((await say(gateway, "anna@example.com")).status).toBe(200);
  expect(seen.requests[0]!.body.toString()).toContain("[EMAIL]");
  expect(seen.requests[0]!.body.toString()).not.toContain("anna@");
  expect((await say(gateway, "4111 1111 1111 1111")).status).toBe(400);
  expect(seen.requests.length).toBe(1);
});

test("a service that blocks, and one that fails", async () => {
  const blocks = service(() => ({ verdict: "block", reason: "no", code: "violence" }));
  const gateway = await gatewayWith({ calm: { webhook: blocks.url, do: "block", on: ["input"] } });
  const refused = await say(gateway, "hello");
  expect([refused.status, ((await refused.json()) as { error: JsonObject }).error["code"]]).toEqual([
    ...[400, "blocked_by_guard"],
  ]);
  blocks.answer(() => ({ status: 500, headers: {}, body: "no" }));
  const failed = await say(gateway, "hello");
  expect([failed.status, ((await failed.json()) as { error: JsonObject }).error["code"]]).toEqual([
    ...[503, "guard_unavailable"],
  ]);
  expect(failed.headers.get("retry-after")).toBe("5");
});
