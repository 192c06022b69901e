/** The plugins in plugins/README.md do what the text beside them says. */
import { describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runCommand } from "../helpers/command.ts";
import { makeFolder } from "../helpers/gateway.ts";
import { ask, makeStage } from "../helpers/places.ts";
import { until } from "../helpers/upstream.ts";
import { makeWeirTypes } from "../helpers/weir-types.ts";

const { gateway } = makeStage();

const GUIDE = await Bun.file(resolve(import.meta.dir, "../../plugins/README.md")).text();
const EXAMPLES = [...GUIDE.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);

/** The example that defines the plugin of this name, with some of its text replaced. */
function example(name: string, replaced: Record<string, string> = {}): Record<string, string> {
  const code = EXAMPLES.find((each) => each.includes(`definePlugin({ name: "${name}"`));
  if (code === undefined) throw new Error(`plugins/README.md has no plugin ${name}`);
  const text = Object.entries(replaced).reduce((all, [from, to]) => all.replaceAll(from, to), code);
  return { [`${name}.ts`]: text };
}

test("every plugin of the guide has the types of the public interface", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-guide-"));
  const lib = ["esnext", "dom", "dom.iterable", "dom.asynciterable"];
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "esnext",
    module: "preserve",
    types: [],
    lib,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  writeFileSync(join(folder, "weir.d.ts"), await makeWeirTypes());
  EXAMPLES.forEach((code, index) => writeFileSync(join(folder, `example-${index}.ts`), code));
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "check"], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  expect(stdout.toString() + stderr.toString()).toContain("No type errors");
  expect(EXAMPLES.length).toBeGreaterThan(5);
});

describe("the examples of hooks", () => {
  test("the budget refuses a key that has used its tokens, in the format of the client", async () => {
    const running = await gateway({}, { plugins: example("budget", { "1_000_000": "5" }) });
    const model = "mock/echo";
    expect((await ask(running, { body: { model } })).status).toBe(200);
    const refused = await ask(running, { body: { model } });
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      429,
      { error: { code: "budget_used", message: "This key has used its 5 tokens." } },
    ]);
    const path = "/v1/messages";
    const other = await ask(running, { body: { model }, path });
    expect([other.status, JSON.parse(other.text)]).toMatchObject([402, { error: { type: "billing_error" } }]);
  });

  test("the note of a call reaches its done hook, and no other call", async () => {
    // A gateway of this process prints here, and one of its own into its log.
    const printed = spyOn(console, "error").mockImplementation(() => {});
    const replaced = { "> 2_000": "> 20", "anthropic/claude-opus-4-8": "mock/error-500" };
    const running = await gateway({}, { plugins: example("size-note", replaced) });
    const long = Array.from({ length: 40 }, () => "word").join(" ");
    const body = (content: string) => ({ model: "mock/echo", messages: [{ role: "user", content }] });
    const [short, failed] = await Promise.all([
      ask(running, { body: body("hi") }),
      ask(running, { body: body(long) }),
    ]);
    expect([short.status, failed.status]).toEqual([200, 502]);
    const lines = () => [...running.log, ...printed.mock.calls.map(([line]) => String(line))];
    const said = () => lines().filter((line) => / had \d+ words/.test(line));
    await until(
      () => said().length > 0,
      10_000,
      () => "no line of the done hook",
    );
    expect(said()).toEqual([expect.stringMatching(/^req_\S+ had 4\d words$/)]);
    printed.mockRestore();
  });

  test("the columns of a call are in its line of the log", async () => {
    const running = await gateway({}, { plugins: example("teams") });
    const body = { model: "mock/echo", messages: [{ role: "user", content: "one two three" }] };
    expect((await ask(running, { body, headers: { "x-team": "red" } })).status).toBe(200);
    const line = () => running.log.find((each) => each.includes('"plugins":'));
    await until(
      () => line() !== undefined,
      10_000,
      () => "no line of the call",
    );
    expect(JSON.parse(line()!)).toMatchObject({ plugins: { "teams.team": "red", "teams.words": 3 } });
  });

  test("the cheap model explains itself, and its check is a line of weir check", async () => {
    const models = { "openai/gpt-5.4-nano": "mock/echo", "openai/gpt-5.4": "mock/chat" };
    const plugins = example("cheap-model", models);
    const running = await gateway({}, { plugins });
    const explained = async (model: string) => {
      const { text } = await ask(running, { path: "/v1/explain?format=chat-completions", body: { model } });
      return (JSON.parse(text) as { plugins?: unknown }).plugins;
    };
    expect(await explained("mock/chat")).toEqual({ "cheap-model": { routed_to: "mock/echo" } });
    expect(await explained("mock/echo")).toBeUndefined();
    const check = async (until: string) => {
      const cwd = await makeFolder({ config: { plugins: { "cheap-model": { until } } }, plugins });
      const { code, err } = await runCommand(["check", "--offline"], { cwd });
      rmSync(cwd, { recursive: true });
      return { code, said: err.split("\n").filter((line) => line.includes("plugin cheap-model")) };
    };
    expect(await check("2999-01-01")).toEqual({ code: 0, said: [] });
    expect(await check("2020-01-01")).toEqual({
      code: 0,
      said: ["weir: plugin cheap-model: mock/echo was to answer until 2020-01-01; choose another model."],
    });
    expect(await check("soon")).toEqual({
      code: 1,
      said: ["weir: plugin cheap-model: until is soon, which is no date; write 2027-01-31."],
    });
  }, 60_000);

  test("the router asks a small model which model answers", async () => {
    const models = { "openai/gpt-5.4-nano": "mock/echo", "anthropic/claude-opus-4-8": "mock/chat" };
    const running = await gateway({}, { plugins: example("router", models) });
    const messages = (content: string) => [{ role: "user", content }];
    const easy = await ask(running, { body: { model: "auto", messages: messages("an easy one") } });
    const hard = await ask(running, { body: { model: "auto", messages: messages("a hard one") } });
    expect([easy, hard].map(({ headers }) => headers.get("x-weir-model"))).toEqual(["echo", "chat"]);
    expect(JSON.parse(hard.text)).toMatchObject({ model: "auto" });
  });

  test("the word limit refuses by the option of the operator, and is off without it", async () => {
    const body = (words: number) => ({
      body: { model: "mock/echo", messages: [{ role: "user", content: "word ".repeat(words) }] },
    });
    const off = await gateway({}, { plugins: example("word-limit") });
    expect((await ask(off, body(50))).status).toBe(200);
    const config = { plugins: { "word-limit": { most: 20 } } };
    const running = await gateway(config, { plugins: example("word-limit") });
    expect((await ask(running, body(5))).status).toBe(200);
    const refused = await ask(running, body(50));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("more than 20 words")]);
  });

  test("the cache answers the second time without a provider", async () => {
    const running = await gateway({}, { plugins: example("cache") });
    const body = { model: "mock/echo", messages: [{ role: "user", content: "once" }] };
    const [first, second] = [await ask(running, { body }), await ask(running, { body })];
    expect([first, second].map(({ headers }) => headers.get("x-cache"))).toEqual(["miss", "hit"]);
    for (const { status, text, headers } of [first, second]) {
      expect([status, headers.get("x-weir-provider"), headers.get("x-weir-lane")]).toEqual([
        200,
        "cache",
        "generated",
      ]);
      expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: "once" } }] });
    }
    const streamed = await ask(running, { body: { ...body, stream: true }, path: "/v1/messages" });
    expect(streamed.headers.get("x-cache")).toBe("hit");
    expect(streamed.text).toContain('"delta":{"type":"text_delta","text":"once"}');
  });
});
