/** `weir rehearse` as an operator runs it, on the outlines of a gateway that has served calls. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { PROGRAM, runCommand } from "../../../../test/helpers/command.ts";
import { json, startUpstream, until } from "../../../../test/helpers/upstream.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(120_000);

const upstream = startUpstream(({ body }) => {
  const { model, input } = JSON.parse(String(body)) as { model: string; input?: string };
  if (input !== undefined)
    return json({
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: [1, 0] }],
      model,
      usage: { prompt_tokens: 2, total_tokens: 2 },
    });
  return json({
    ...{ id: "c1", object: "chat.completion", created: 1, model },
    choices: [{ index: 0, message: { role: "assistant", content: "zebra" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  });
});

const CONFIG = {
  state: "state",
  rehearse: { share: 1 },
  providers: {
    host: {
      baseUrl: `${upstream.url}/v1`,
      speaks: "chat-completions",
      embeds: { embeddings: "/embeddings" },
      models: ["some-model", "other"],
    },
  },
  aliases: { fast: "host/some-model" },
  prices: { "*": { input: 1, output: 5 } },
  keys: ["alice:sk-alice-0123456789abcdef"],
};

let gateway: RunningGateway;
let folder: string;

beforeAll(async () => {
  gateway = await startGateway({ config: CONFIG });
  folder = gateway.folder;
  const apiKey = "sk-alice-0123456789abcdef";
  const openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });
  for (let i = 0; i < 3; i++)
    await openai.chat.completions.create({
      model: "fast",
      temperature: 0.5,
      messages: [{ role: "user", content: "zebra" }],
    });
  const stream = anthropic.messages.stream({
    model: "host/other",
    max_tokens: 50,
    messages: [{ role: "user", content: "zebra" }],
  });
  await stream.finalMessage();
  await openai.embeddings.create({ model: "host/some-model", input: "zebra" });
  const file = () =>
    readdirSync(join(folder, "state/outlines"))
      .map((name) => readFileSync(join(folder, "state/outlines", name), "utf8"))
      .join("");
  await until(
    () => existsSync(join(folder, "state/outlines")) && file().split("\n").length === 6,
    30_000,
    () => "no outlines are written",
  );
  expect(file()).not.toContain("zebra");
});
afterAll(async () => {
  await gateway?.stop();
  upstream.stop();
});

const rehearse = (...args: string[]) => runCommand(["rehearse", ...args], { cwd: folder });
const config = (changes: object) => {
  writeFileSync(join(folder, "new.yaml"), JSON.stringify({ ...CONFIG, ...changes }));
  return ["--config", "new.yaml"];
};

test("the same config changes no call", async () => {
  expect(await rehearse(...config({}))).toMatchObject({
    code: 0,
    out: expect.stringContaining("5 calls: 5 the same, 0 changed"),
  });
});

test("another target and another price are counted by cause, and the exit code says so", async () => {
  const { code, out } = await rehearse(
    ...config({ aliases: { fast: "host/other" }, prices: { "*": { input: 2, output: 5 } } }),
    "--json",
  );
  expect(code).toBe(1);
  const report = JSON.parse(out);
  expect(report).toMatchObject({ calls: 5, changed: 5, needs_tape: 0 });
  expect(Object.keys(report.causes)).toEqual(
    expect.arrayContaining(["target", "body", "header", "loss", "price", "refused"]),
  );
  expect(report.causes.target).toMatchObject({
    calls: 3,
    groups: [{ what: "host/host/some-model -> host/host/other", calls: 3 }],
  });
  expect(report.causes.price.calls).toBe(5);
  const allowed = await rehearse("--config", "new.yaml", "--allow", "5");
  expect(allowed.code).toBe(0);
});

test("a key that may no longer use a model is refused, and one that is gone too", async () => {
  const { out } = await rehearse(
    ...config({ keys: [{ name: "alice", key: "sk-alice-0123456789abcdef", models: ["host/other"] }] }),
    "--json",
  );
  expect(JSON.parse(out).causes.refused).toMatchObject({
    calls: 4,
    groups: [{ what: "now refused (model_not_allowed)" }],
  });
  const gone = await rehearse(...config({ keys: ["bob:sk-bob-0123456789abcdefgh"] }), "--json");
  expect(JSON.parse(gone.out).causes.refused.calls).toBe(5);
});

test("a plugin that reads texts is not guessed at, and one that does not is", async () => {
  const plugin = (hook: string) => {
    const dir = join(folder, "plugins-new");
    Bun.spawnSync(["mkdir", "-p", dir]);
    writeFileSync(
      join(dir, "own.ts"),
      `import { definePlugin } from "weir";\nexport default definePlugin({ name: "own", hooks: { request(request) { ${hook} } } });`,
    );
    return config({ plugins: { dir: "plugins-new" } });
  };
  const cold = await rehearse(...plugin("request.temperature = 0;"), "--json");
  const report = JSON.parse(cold.out);
  expect(report).toMatchObject({ needs_tape: 0, changed: 4 });
  expect(report.causes.body.groups).toContainEqual({ what: "temperature", calls: 3, first: 1 });
  const reading = await rehearse(
    ...plugin(`if (JSON.stringify(request).includes("zebra")) request.temperature = 0;`),
    "--json",
  );
  expect(JSON.parse(reading.out)).toMatchObject({
    needs_tape: 4,
    unknown: expect.arrayContaining([{ call: expect.any(String), why: ["the plugin own reads texts"] }]),
  });
});

test("another build says what it would do", async () => {
  const binary = join(folder, "other");
  writeFileSync(binary, `#!/bin/sh\nexec ${PROGRAM.join(" ")} "$@"\n`);
  await chmod(binary, 0o755);
  expect(await rehearse("--binary", "./other")).toMatchObject({
    code: 0,
    out: expect.stringContaining("5 the same"),
  });
  writeFileSync(binary, `#!/bin/sh\necho "unknown command rehearse" >&2; exit 2\n`);
  const failed = await rehearse("--binary", "./other");
  expect(failed.code).toBe(1);
  expect(failed.err).toContain("answered 0 of 5 outlines: unknown command rehearse");
});

test("one changed call is shown whole, and CI gets a file", async () => {
  const { out } = await rehearse(...config({ aliases: { fast: "host/other" } }), "--explain", "1");
  const shown = JSON.parse(out);
  expect(shown.model).toBe("fast");
  expect(shown.differences[0]).toMatchObject({ cause: "target", before: "host/host/some-model" });
  await rehearse("--config", "new.yaml", "--junit", "report.xml");
  expect(readFileSync(join(folder, "report.xml"), "utf8")).toContain(
    '<testcase classname="weir.rehearse" name="target"><failure',
  );
});

test("without outlines, and without something to compare, the command says what to do", async () => {
  const none = await rehearse("--config", "new.yaml", "--state", "elsewhere");
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining("rehearse.outlines: on") });
  const nothing = await rehearse();
  expect(nothing).toMatchObject({
    code: 2,
    err: expect.stringContaining("--config NEW.yaml or --binary WEIR"),
  });
  expect(existsSync(join(folder, "state/outlines"))).toBe(true);
});

test("the calls of a tape are rehearsed with their texts", async () => {
  const client = `await fetch(process.env.WEIR_URL + "/v1/chat/completions", { method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-alice-0123456789abcdef" },
    body: JSON.stringify({ model: "fast", messages: [{ role: "user", content: "zebra" }] }) });`;
  writeFileSync(join(folder, "client.ts"), client);
  const recorded = await runCommand(
    ["record", "job.tape", "--state", "taped", "--", process.execPath, "client.ts"],
    {
      cwd: folder,
    },
  );
  expect(recorded.err).toContain("1 call is on the tape");
  const hook = `if (JSON.stringify(request).includes("zebra")) request.temperature = 0;`;
  writeFileSync(
    join(folder, "plugins-new/own.ts"),
    `import { definePlugin } from "weir";\nexport default definePlugin({ name: "own", hooks: { request(request) { ${hook} } } });`,
  );
  const { out, code } = await rehearse(
    ...config({ plugins: { dir: "plugins-new" } }),
    "--tape",
    "job.tape",
    "--json",
  );
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ calls: 1, changed: 1, needs_tape: 0 });
  expect(JSON.parse(out).causes.body.groups).toContainEqual({
    what: "temperature (added)",
    calls: 1,
    first: 1,
  });
});
