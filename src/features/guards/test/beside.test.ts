/** A guard that judges a request while the provider works on it already: the mode `beside`. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import type { RunningGateway } from "../../../../test/helpers/gateway.ts";
import { json, silence, type Upstream } from "../../../../test/helpers/upstream.ts";
import { chatProvider, post, Servers, textOf, WORD, wordsIn } from "./servers.ts";

setDefaultTimeout(60_000);

const servers = new Servers();

const delayed = (ms: number) =>
  servers.upstream(async () => {
    await Bun.sleep(ms);
    return json({
      id: "c_1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
const besideWith = (upstream: Upstream, url: string, more: JsonObject = {}) =>
  servers.gateway(
    { asks: { webhook: url, do: "block", on: "input", mode: "beside", ...more } },
    { providers: { slow: chatProvider(upstream) } },
  );
const say = ({ url }: RunningGateway, content: string, stream = false) =>
  post(`${url}/v1/chat/completions`, { model: "slow/m", stream, messages: [{ role: "user", content }] });

test("the time to the first byte is that of the slower one", async () => {
  const hook = servers.service(async () => {
    await Bun.sleep(1_500);
    return { verdict: "pass" };
  });
  const gateway = await besideWith(delayed(1_500), hook.url);
  await say(gateway, "warm");
  const before = performance.now();
  expect((await say(gateway, "hello")).status).toBe(200);
  expect(performance.now() - before).toBeLessThan(2_900);
});

test("a verdict that comes behind the end of the answer: the client gets nothing of it", async () => {
  const upstream = delayed(0);
  const hook = servers.service(async (asked) => {
    await upstream.quiet();
    await Bun.sleep(100);
    return { verdict: "pass", findings: wordsIn(asked) };
  });
  const gateway = await besideWith(upstream, hook.url);
  const response = await say(gateway, `hello ${WORD}`);
  expect([response.status, (await response.text()).includes("done")]).toEqual([400, false]);
  expect(upstream.requests.length).toBe(1);
});

test("an early verdict stops the provider", async () => {
  const upstream = servers.upstream(() => silence());
  const hook = servers.service(async (asked) => {
    await upstream.arrived(1);
    return { verdict: "pass", findings: wordsIn(asked) };
  });
  const gateway = await besideWith(upstream, hook.url);
  const response = await say(gateway, `hello ${WORD}`);
  const { error } = (await response.json()) as { error: JsonObject };
  expect([response.status, error["code"]]).toEqual([400, "blocked_by_guard"]);
  await upstream.quiet();
  expect(upstream.requests.map(({ state }) => state)).toEqual(["closed"]);
});

test("as a refusal, which the client gets whole although the call was stopped", async () => {
  const upstream = servers.upstream(() => silence());
  const hook = servers.service((asked) => ({ verdict: "pass", findings: wordsIn(asked) }));
  const gateway = await besideWith(upstream, hook.url, { as: "refusal" });
  for (const stream of [false, true]) {
    const response = await say(gateway, WORD, stream);
    const text = await textOf(response);
    expect([stream, response.status, text.includes('"content_filter"')]).toEqual([stream, 200, true]);
    expect(text).toContain("The guard");
    if (stream) expect(text).toContain("[DONE]");
  }
  await upstream.quiet();
});

test("a guard without a verdict stops the provider too", async () => {
  const upstream = servers.upstream(() => silence());
  const hook = servers.upstream(async () => {
    await upstream.arrived(1);
    return json({}, 500);
  });
  const gateway = await besideWith(upstream, hook.url);
  expect((await say(gateway, "hello")).status).toBe(503);
  await upstream.quiet();
});
