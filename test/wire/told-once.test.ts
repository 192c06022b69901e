/** Each call has one end, also where a part of weir fails between its request and its answer. */
import { afterEach, expect, test } from "bun:test";
import type { Seams } from "../../src/gateway/seams.ts";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream, until } from "../helpers/upstream.ts";

let gateway: RunningGateway | undefined;
let upstream: Upstream | undefined;

afterEach(async () => {
  await gateway?.stop();
  upstream?.stop();
});

const ANSWER = { id: "a", object: "chat.completion", created: 1, model: "m" };
const CHOICE = { index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" };
const WHOLE = json({ ...ANSWER, choices: [CHOICE], usage: { prompt_tokens: 1, completion_tokens: 1 } });

async function start(seams: Seams): Promise<void> {
  upstream = startUpstream(WHOLE);
  const part = { name: "tested", load: () => Promise.resolve({ start: () => ({ seams: () => seams }) }) };
  gateway = await startGateway({
    config: { ...upstreamConfig({ openai: upstream.url }), log: { format: "json" } },
    workers: [part],
  });
}

function ask(body: object = {}): Promise<Response> {
  return fetch(`${gateway!.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "openai/m", messages: [{ role: "user", content: "hi" }], ...body }),
  });
}

function lines(): Record<string, unknown>[] {
  return gateway!.log
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as object as Record<string, unknown>);
}

/** The log lines of calls, when the provider's last answer must have come too. */
async function calls(count: number): Promise<Record<string, unknown>[]> {
  await until(
    () => lines().filter(({ id }) => id).length >= count,
    10_000,
    () => gateway!.log.join("\n"),
  );
  await Bun.sleep(100);
  expect(gateway!.log.join("\n")).not.toContain("settled twice");
  return lines().filter(({ id }) => id);
}

test("a part that fails when a request was sent fails the call once, and the answer behind it changes nothing", async () => {
  await start({
    sent() {
      throw new Error("the part is broken");
    },
  });
  expect((await ask()).status).toBe(500);
  expect((await ask({ stream: true })).status).toBe(500);
  const ended = await calls(2);
  expect(ended.map(({ status, outcome }) => [status, outcome])).toEqual([
    [500, "failed"],
    [500, "failed"],
  ]);
  expect(upstream!.requests.length).toBe(2);
  expect(gateway!.log.join("\n")).not.toContain(UPSTREAM_KEYS.openai);
});

test("an answer that a part replaces by a failure ends once", async () => {
  await start({
    around: {
      at: "loop",
      async run(entry, next) {
        await next();
        throw new Error(`no answer for ${entry.call.model}`);
      },
    },
  });
  expect((await ask()).status).toBe(500);
  expect((await calls(1)).map(({ outcome }) => outcome)).toEqual(["failed"]);
});

test("calls at once get their own answers, ids and log lines", async () => {
  await start({});
  const ids = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const response = await ask();
      expect(((await response.json()) as { id: string }).id).toBe("a");
      expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
      return response.headers.get("x-request-id")!;
    }),
  );
  expect(new Set(ids).size).toBe(40);
  expect((await calls(40)).map(({ id }) => id as string).sort()).toEqual([...ids].sort());
});
