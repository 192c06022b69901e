/** Plugins and embeddings: programs that embed, and hooks that see the calls. */
import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { askEmbeddings, lastLine, makeEmbeddingStage } from "../helpers/embedding.ts";
import { TARGET } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { until } from "../helpers/upstream.ts";
import { writeTemplate } from "../../src/cli/templates.ts";

const { gateway } = makeEmbeddingStage();

const GUIDE = await Bun.file(resolve(import.meta.dir, "../../plugins/README.md")).text();
const letters = [...GUIDE.matchAll(/^```ts\n(.*?)^```$/gms)]
  .map(([, code]) => code!)
  .find((code) => code.includes('"letters"'))!;

/** A process of its own, whose standard error is in its log. */
const OUTSIDE = TARGET === "source" ? "process" : TARGET;

/** A program with this body of `embed`. */
const program = (body: string) => ({
  "p.ts": `import { definePlugin, GatewayError } from "weir";
    export default definePlugin({ name: "p", providers: [{ name: "p", embed(request, call) { ${body} } }] });`,
});

test("the program of the guide embeds for OpenAI's SDK, in both encodings, and its tokens are booked", async () => {
  const running = await gateway({}, { plugins: { "letters.ts": letters } });
  const { data, usage } = await openaiClient(running.url).embeddings.create({
    model: "letters/x",
    input: ["abba", "c"],
  });
  expect(data.map(({ embedding }) => embedding.slice(0, 3))).toEqual([
    [2, 2, 0],
    [0, 0, 1],
  ]);
  expect(usage.total_tokens).toBe(2);
  const { body, headers } = await askEmbeddings(running.url, {
    model: "letters/x",
    input: "a",
    dimensions: 2,
  });
  expect(body.data![0]!.embedding).toEqual([1, 0]);
  expect(headers.get("x-weir-lane")).toBe("generated");
  expect(await lastLine(running)).toMatchObject({ provider: "letters", tokens: { input: 1 } });
});

test("the template of a program embeds", async () => {
  const { text } = writeTemplate("program", "mine");
  const { url } = await gateway({}, { plugins: { "mine.ts": text } });
  const { body } = await askEmbeddings(url, { model: "mine/x", input: "abba" });
  expect(body.data![0]!.embedding.slice(0, 3)).toEqual([2, 2, 0]);
});

test("tokens that a program does not count are estimated", async () => {
  const running = await gateway(
    {},
    { plugins: program("return { vectors: request.inputs.map(() => [1, 2]) };") },
  );
  const { body } = await askEmbeddings(running.url, { model: "p/x", input: "three short words" });
  expect(body.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  expect(await lastLine(running)).toMatchObject({ estimated: { input: 3, output: 0 } });
});

test("a program's own error reaches the client, and another one only the log", async () => {
  const own = await gateway(
    {},
    { plugins: program('throw new GatewayError("quota", "No more vectors today.");') },
  );
  const said = await askEmbeddings(own.url, { model: "p/x", input: "a" });
  expect([said.status, said.body.error!.message]).toEqual([429, "No more vectors today."]);
  const broken = await gateway({}, { plugins: program('throw new Error("secret detail");') });
  const hidden = await askEmbeddings(broken.url, { model: "p/x", input: "a" });
  expect([hidden.status, hidden.text.includes("secret")]).toEqual([500, false]);
  expect((await lastLine(broken)).error).toMatchObject({ cause: expect.stringContaining("secret detail") });
});

test("an answer of a program that is none fails the call and names the fault in the log", async () => {
  const cases: [returns: string, status: number, says: string][] = [
    ["[]", 500, "embed must return"],
    ["undefined", 500, "embed must return"],
    ["({ vectors: [['a']] })", 500, "vectors[0] must be a list of finite numbers"],
    ["({ vectors: [[NaN]] })", 500, "vectors[0] must be a list of finite numbers"],
    ["({ vectors: [[1]], usage: {} })", 500, "usage.input must be a number"],
    ["({ vectors: [] })", 502, "sent 0 vectors for 1 inputs"],
    ["({ vectors: [[]] })", 502, "vectors of different lengths"],
  ];
  for (const [returns, status, says] of cases) {
    const running = await gateway({}, { plugins: program(`return ${returns};`) });
    const got = await askEmbeddings(running.url, { model: "p/x", input: "a" });
    expect([returns, got.status]).toEqual([returns, status]);
    expect(JSON.stringify((await lastLine(running)).error)).toContain(says);
  }
});

test("a program that hangs is left when the client leaves, and learns of it", async () => {
  const plugins = program(
    'return new Promise(() => call.signal.addEventListener("abort", () => console.error("left")));',
  );
  const running = await gateway({}, { plugins });
  const leaving = AbortSignal.timeout(300);
  await seeError(() =>
    openaiClient(running.url).embeddings.create({ model: "p/x", input: "a" }, { signal: leaving }),
  );
  const hasLine = () => running.log.some((line) => line.includes('"outcome":"cancelled"'));
  await until(hasLine, 5_000, () => "the call was not settled");
  expect(await lastLine(running)).toMatchObject({ outcome: "cancelled", status: 499 });
});

test("admit refuses embeddings as it refuses other calls, done sees them, and other hooks do not run", async () => {
  const hooks = `import { definePlugin, GatewayError } from "weir";
    export default definePlugin({ name: "h", hooks: {
      admit(call) {
        if (call.headers.get("x-refuse")) throw new GatewayError("rate-limited", "Not now, " + call.format + ".");
      },
      intercept() { return { answer: "no" }; },
      request() { throw new Error("request ran"); },
      done({ format, usage, outcome }) { console.log(JSON.stringify({ seen: format, outcome, input: usage.input })); },
    } });`;
  const running = await gateway({}, { plugins: { "h.ts": hooks }, target: OUTSIDE });
  const refused = await askEmbeddings(running.url, { model: "mock/embed", input: "a" }, { "x-refuse": "1" });
  expect([refused.status, refused.body.error!.message]).toEqual([429, "Not now, embeddings."]);
  expect((await askEmbeddings(running.url, { model: "mock/embed", input: "abcd" })).status).toBe(200);
  await Bun.sleep(150);
  const seen = running.log.filter((line) => line.startsWith('{"seen"'));
  expect(seen.map((line) => JSON.parse(line) as unknown)).toEqual([
    { seen: "embeddings", outcome: "failed", input: 0 },
    { seen: "embeddings", outcome: "complete", input: 1 },
  ]);
}, 60_000);

test("a gateway key is needed, and limits count embeddings", async () => {
  const running = await gateway({
    keys: [{ name: "alice", key: "weir-key-0123456789" }],
    limits: { callsPerClient: 1 },
  });
  expect((await askEmbeddings(running.url, { model: "mock/embed", input: "a" })).status).toBe(401);
  const authorization = "Bearer weir-key-0123456789";
  const stalled = new AbortController();
  const stalling = fetch(`${running.url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    body: JSON.stringify({ model: "mock/stall", input: "a" }),
    signal: stalled.signal,
  }).catch(() => undefined);
  await Bun.sleep(200);
  const second = await askEmbeddings(running.url, { model: "mock/embed", input: "a" }, { authorization });
  expect([second.status, second.body.error!.code]).toEqual([429, "too_many_calls"]);
  expect(await lastLine(running)).toMatchObject({ key: "alice", status: 429 });
  stalled.abort();
  await stalling;
});

test("a mistake in embeds is found at the start", async () => {
  const cases: [name: string, members: string, says: string][] = [
    ["a", 'embeds: { embedings: "/e" }', "unknown dialect"],
    ["b", 'embeds: { embeddings: "e" }', "must begin with a slash"],
    ["c", 'embeds: { embeddings: { path: "/e", maxInput: 3 } }', "did you mean maxInputs"],
    ["d", 'embeds: { embeddings: { path: "/e", base64: "yes" } }', "base64 must be"],
    ["e", 'embeds: { embeddings: "/e" }, embed() { return { vectors: [] }; }', "not both"],
  ];
  const plugins = cases.map(([name, members]) => [
    `${name}.ts`,
    `import { definePlugin } from "weir";
    export default definePlugin({ name: "${name}", providers: [{ name: "${name}", baseUrl: "http://127.0.0.1:9", ${members} }] });`,
  ]);
  const running = await gateway(
    {},
    { plugins: Object.fromEntries(plugins) as Record<string, string>, target: OUTSIDE },
  );
  for (const [name, , says] of cases)
    expect(running.log.find((line) => line.includes(`${name}.ts`))).toContain(says);
}, 60_000);
