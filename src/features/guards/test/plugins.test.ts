/** Guards that plugins bring: they judge where the config says, and what fails lets nothing pass. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { startGateway } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(60_000);

const open: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const one of open) await one.stop();
});

const plugin = (guards: string) => `
import { definePlugin } from "weir";
export default definePlugin({ name: "acme", guards: [${guards}] });
`;

async function gatewayWith(guards: JsonObject, file: string, more: JsonObject = {}) {
  const gateway = await startGateway({
    config: { guards, ...more },
    plugins: { "acme.ts": file },
  });
  open.push(gateway);
  return gateway;
}

async function say({ url }: { url: string }, content: string, stream = false) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/echo", stream, messages: [{ role: "user", content }] }),
  });
  const text = await response.text();
  const said = [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece).join("");
  return { status: response.status, said, text, guards: response.headers.get("x-weir-guards") };
}

const NAMES = `{
  name: "names",
  find: (text) => [...text.matchAll(/Zoë/g)].map(({ index }) => ({ start: index, end: index + 3, kind: "PERSON" })),
  reach: (text) => Math.max(0, text.length - 2),
}`;

test("a guard that finds: what it finds is replaced in requests, and masked in streams piece by piece", async () => {
  const file = plugin(NAMES);
  const asks = await gatewayWith({ names: { plugin: "names", do: "replace", on: "input" } }, file);
  expect(await say(asks, "Zoë and Zoë")).toMatchObject({ status: 200, said: "Zoë and Zoë" });
  expect((await say(asks, "Zoë and Zoë")).guards).toBe("names=replaced:2");
  for (const mode of ["hold", "window"]) {
    const answers = await gatewayWith({ names: { plugin: "names", do: "mask", on: "output", mode } }, file);
    for (const stream of [false, true])
      expect((await say(answers, "Zoë and Zoë, ".repeat(9), stream)).said).toBe(
        "[PERSON] and [PERSON], ".repeat(9),
      );
  }
});

test("a guard that asks gets what a service would, and no credential", async () => {
  const file = plugin(`{
    name: "asks",
    async ask(batch) {
      if (JSON.stringify(batch).includes("weir_sk_") || "parent" in batch) throw new Error("it has a credential");
      const { phase, call, texts, final } = batch;
      if (phase !== "input" || call.path !== "/" || !final) throw new Error("it lacks the call");
      return { verdict: texts[0].text.includes("bomb") ? "block" : "pass", code: "violence" };
    },
  }`);
  const gateway = await gatewayWith({ calm: { plugin: "asks", on: "input" } }, file);
  expect((await say(gateway, "hello")).status).toBe(200);
  const refused = await say(gateway, "a bomb");
  expect([refused.status, refused.text.includes("violence")]).toEqual([400, true]);
});

test("a guard that throws, hangs, or says what cannot be lets nothing pass", async () => {
  for (const body of [
    "find() { throw new Error('no: hello') }",
    "find: () => [{ start: 0, end: 900, kind: 'X' }]",
    "find: () => [{ start: 0, end: 2, kind: 'X' }, { start: 1, end: 3, kind: 'Y' }]",
    "find: () => 7",
    "async ask() { throw new Error('no: hello') }",
    "ask: () => new Promise(() => {})",
    "ask: async () => ({ verdict: 'allow' })",
    "ask: async () => undefined",
    "ask: async () => ({ verdict: 'pass', findings: [{ index: 7, start: 0, end: 1, kind: 'X' }] })",
  ]) {
    const file = plugin(`{ name: "bad", ${body} }`);
    const guard = { plugin: "bad", timeout: "200ms" };
    const strict = await gatewayWith({ bad: guard }, file);
    const refused = await say(strict, "hello");
    expect([body, refused.status, refused.text.includes("guard_unavailable")]).toEqual([body, 503, true]);
    expect(refused.guards).toContain("bad=unavailable");
    expect(strict.log.join()).not.toContain("no: hello");
    const lenient = await gatewayWith({ bad: { ...guard, onError: "pass" } }, file);
    const passed = await say(lenient, "hello");
    expect([passed.status, passed.said]).toEqual([200, "hello"]);
    expect(passed.guards).toContain("bad=unavailable");
  }
});

test("a guard that no plugin brings lets nothing pass", async () => {
  const gateway = await gatewayWith({ names: { plugin: "absent", on: "input" } }, plugin(NAMES));
  expect((await say(gateway, "hello")).status).toBe(503);
});

test("weir does not start without a plugin that may have guards, unless plugins.strict is false", async () => {
  const broken = plugin(`{ name: "names", finds: 7 }`);
  const config = { names: { plugin: "names", do: "replace" as const, on: "input" } };
  await expect(gatewayWith(config, broken)).rejects.toThrow(/may have hooks or guards that decide/);
  const gateway = await gatewayWith(config, broken, { plugins: { strict: false } });
  expect((await say(gateway, "Zoë")).status).toBe(503);
});

test("two plugins cannot bring a guard of one name", async () => {
  await expect(gatewayWith({}, plugin(`${NAMES}, ${NAMES}`))).rejects.toThrow(
    /two plugins bring a guard named names|twice/,
  );
});
