/** Several processes on one port, and a config that changes while they run. */
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";

const CONFIG = "aliases: { fast: mock/chat }\ngraceMs: 1000\n";
let running: Serving | undefined;

afterEach(async () => {
  await running?.end();
  running = undefined;
});

async function start(workers: number, config = CONFIG, plugins?: Record<string, string>): Promise<Serving> {
  running = await serve({ config, workers, plugins });
  return running;
}

describe("two workers", () => {
  test("share the port, are started again when one dies, and end together", async () => {
    const weir = await start(2);
    expect(weir.workers().length).toBe(2);
    for (let n = 0; n < 40; n++) expect((await ask(weir.url, "fast")).status).toBe(200);
    const said = () => new Set(weir.log.flatMap((line) => /"worker":(\d)/.exec(line)?.[1] ?? []));
    expect(await until(() => said().size === 2)).toBe(true);
    process.kill(weir.workers()[0]!, "SIGKILL");
    expect(
      await until(() => weir.log.some((line) => line.includes("by signal SIGKILL; weir restarts it"))),
    ).toBe(true);
    expect(await until(() => weir.workers().length === 2)).toBe(true);
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(0);
  }, 600_000);

  test("end when their supervisor is gone", async () => {
    const weir = await start(2);
    const workers = weir.workers();
    weir.signal("SIGKILL");
    const isAlive = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    expect(await until(() => !workers.some(isAlive), 8_000)).toBe(true);
  }, 600_000);

  test("are reloaded one after the other, and keep what they have when the new config is wrong", async () => {
    const weir = await start(2);
    weir.configure(`${CONFIG}routes: { smart: [mock/chat] }\n`);
    expect(weir.run("reload")).toMatchObject({ code: 0, output: "the configuration was reloaded\n" });
    for (let n = 0; n < 10; n++) expect((await ask(weir.url, "smart")).status).toBe(200);
    weir.configure("aliases: { fast: mock/chat }\nnonsense: 1\n");
    const refused = weir.run("reload");
    expect(refused.code).toBe(1);
    expect(refused.output).toContain(
      "reload failed; the previous configuration is still active: weir.yaml:2: unknown option nonsense",
    );
    for (let n = 0; n < 10; n++) expect((await ask(weir.url, "smart")).status).toBe(200);
  }, 600_000);
});

test("a port that is in use is one sentence", async () => {
  const weir = await start(2);
  const port = new URL(weir.url).port;
  for (const workers of ["1", "2"]) {
    const second = weir.run("serve", "--port", port, "--workers", workers);
    expect(second.code).not.toBe(0);
    expect(second.output).toContain(port);
  }
}, 600_000);

const PLUGIN = (
  word: string,
) => `import { definePlugin, NO_USAGE, type ChatEvent, type ChatRequest } from "weir";
async function* generate(request: ChatRequest): AsyncGenerator<ChatEvent> {
  yield { type: "message-start", id: "x", model: request.model };
  yield { type: "block-start", index: 0, block: { type: "text" } };
  yield { type: "block-delta", index: 0, delta: "${word}" };
  yield { type: "block-end", index: 0 };
  yield { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE } };
}
export default definePlugin({ name: "words", providers: [{ name: "words", generate }] });
`;

describe("one process", () => {
  test("takes a changed plugin into force; a broken one is named and changes nothing", async () => {
    const weir = await start(1, CONFIG, { "words.ts": PLUGIN("first") });
    expect((await ask(weir.url, "words/x")).text).toContain("first");
    await Bun.write(`${weir.folder}/plugins/words.ts`, PLUGIN("second"));
    expect(weir.run("reload").code).toBe(0);
    expect((await ask(weir.url, "words/x")).text).toContain("second");
    await Bun.write(`${weir.folder}/plugins/words.ts`, "export default {{{");
    const refused = weir.run("reload");
    expect(refused.code).toBe(1);
    expect(refused.output).toMatch(/words\.ts:1:\d+/);
    expect((await ask(weir.url, "words/x")).text).toContain("second");
  }, 600_000);

  test("a running stream keeps the config it began with", async () => {
    const weir = await start(1);
    const streamed = ask(weir.url, "mock/pace-20", true);
    await Bun.sleep(100);
    weir.configure("providers: { mock: { enabled: false } }\n");
    expect(weir.run("reload").code).toBe(0);
    expect((await ask(weir.url, "mock/chat")).status).toBe(404);
    expect((await streamed).text).toEndWith("data: [DONE]\n\n");
  }, 600_000);

  test("what only a start takes into force is said", async () => {
    const weir = await start(1);
    weir.configure("host: localhost\n");
    expect(weir.run("reload").code).toBe(0);
    expect(
      await until(() => weir.log.some((line) => line.includes("host: changes take effect after a restart"))),
    ).toBe(true);
  }, 600_000);

  test("the second signal is immediate", async () => {
    const weir = await start(1, "graceMs: 60000\n");
    void ask(weir.url, "mock/stall", true).catch(() => {});
    await Bun.sleep(200);
    weir.signal("SIGTERM");
    await Bun.sleep(200);
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(1);
  }, 600_000);

  test("a systemd unit's gateway is found in the unit's own folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-unit-"));
    running = await serve({ config: CONFIG, workers: 1, env: { RUNTIME_DIRECTORY: folder } });
    expect(readdirSync(folder)).toEqual([`${new URL(running.url).port}.json`]);
    expect(running.run("reload")).toMatchObject({ code: 0 });
    rmSync(folder, { recursive: true });
  }, 600_000);

  test("nobody there to reload is said", async () => {
    const weir = await start(1);
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(0);
    expect(weir.run("reload")).toMatchObject({
      code: 1,
      output: expect.stringContaining("no gateway of this user is running"),
    });
  }, 600_000);
});
