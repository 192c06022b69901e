/** What may be written on the command line, and that a mistake in it starts nothing. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { COMMANDS } from "../helpers/commands.ts";
import { MAIN, runCommand } from "../helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-arguments-"));
  writeFileSync(join(folder, "x.yaml"), "aliases: { fast: mock/chat }\n");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const weir = (...args: string[]) => runCommand(args, { cwd: folder });

test("flags may stand before the command", async () => {
  const { code, out } = await weir("--config", "x.yaml", "check", "--offline");
  expect([code, out]).toEqual([0, expect.stringMatching(/^config +x\.yaml/)]);
  expect((await weir("--config=x.yaml", "models", "fast")).out).toContain("mock/chat");
  expect((await weir("--help", "plugin", "new")).out).toContain("weir plugin new NAME");
});

test("a surplus word or an unknown flag exits with 2 and starts nothing", async () => {
  const rows: [args: string[], says: string][] = [
    [["serve", "check"], 'weir serve takes no arguments; unexpected argument "check"'],
    [["models", "gpt-5", "gpt-4"], 'weir models takes only NAME; unexpected argument "gpt-4"'],
    [["--config", "x.yaml", "chekc"], "did you mean check?"],
    [["--confg", "x.yaml", "check"], "did you mean --config?"],
    [["check", "--port", "1"], "weir check has no flag --port; the flag belongs to weir serve"],
    [["-x"], "unknown flag -x"],
    [["check", "-p"], "unknown flag -p"],
    [["serve", "--prot", "0"], "did you mean --port?"],
    [["serve", "--port", "--workers", "2"], "--port requires a value: --port PORT"],
    [["serve", "--config="], "--config requires a value"],
    [["check", "--offline=no"], "--offline takes no value"],
    [["plugin", "new"], "weir plugin new requires NAME"],
    [["serve", "--", "check"], 'weir serve takes no arguments; unexpected argument "check"'],
    [["plugin", "lst"], "did you mean plugin list?"],
    [["completion", "bsh"], "did you mean bash?"],
  ];
  const ran = await Promise.all(rows.map(([args]) => weir(...args)));
  for (const [index, { code, out, err }] of ran.entries()) {
    expect([rows[index]![0], code, out]).toEqual([rows[index]![0], 2, ""]);
    expect(err).toContain(rows[index]![1]);
    expect(err.trim().split("\n").length).toBe(1);
  }
}, 600_000);

test("a command group without a subcommand prints its help", async () => {
  for (const [group, member] of [
    ["plugin", "plugin new NAME"],
    ["config", "config schema"],
  ] as const) {
    const { code, out } = await weir(group);
    expect([code, out]).toEqual([0, expect.stringContaining(member)]);
  }
});

test("weir version, --version and -v print the version", async () => {
  for (const word of ["version", "--version", "-v"])
    expect((await weir(word)).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("a reader that closes the pipe early gets no error message", async () => {
  const env = environmentIn(folder, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" });
  for (const command of ["models", "models --json", "config schema", "--help"]) {
    const line = `"${process.execPath}" "${MAIN}" ${command} | head -n 1; exit $` + "{PIPESTATUS[0]}";
    const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "-c", line], { cwd: folder, env });
    expect(stdout.toString().trim().split("\n").length).toBe(1);
    expect([command, stderr.toString(), exitCode]).toEqual([command, "", 0]);
  }
  // A reader that is gone before the first line, so that each write fails.
  const script = `"${process.execPath}" "${MAIN}" models | true; exit $` + "{PIPESTATUS[0]}";
  const { stderr } = Bun.spawnSync(["bash", "-c", script], { cwd: folder, env });
  expect(stderr.toString()).toBe("");
});

test("--json prints one JSON value on models, check, explain, plugin list and config show", async () => {
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await weir(...args, "--json", "--config", "x.yaml")).out);
  expect(await json("models")).toMatchObject({
    providers: [{ name: "mock" }],
    models: expect.arrayContaining([expect.objectContaining({ id: "fast", provider: "mock" })]),
  });
  expect(await json("models", "fast")).toMatchObject({
    name: "fast",
    served: [
      { client: "chat-completions", provider: "mock", model: "chat", lane: "generated" },
      { client: "messages", provider: "mock", model: "chat", lane: "generated" },
      { client: "responses", provider: "mock", model: "chat", lane: "generated" },
      { client: "gemini", provider: "mock", model: "chat", lane: "generated" },
      { client: "interactions", provider: "mock", model: "chat", lane: "generated" },
      { client: "ollama", provider: "mock", model: "chat", lane: "generated" },
      { client: "ollama-generate", provider: "mock", model: "chat", lane: "generated" },
      { client: "completion", provider: "mock", model: "chat", lane: "generated" },
      { client: "cache", provider: "mock", model: "chat", lane: "generated" },
    ],
    plan: [{ deployment: "mock" }],
  });
  expect(await json("check", "--offline")).toMatchObject({
    ok: true,
    config: "x.yaml",
    keys: [],
    providers: [{ name: "mock" }],
    off: expect.arrayContaining([{ name: "openai", reason: "set OPENAI_API_KEY to its API key" }]),
    faults: [],
  });
  expect(await json("plugin", "list")).toMatchObject({
    plugins: expect.arrayContaining([
      {
        ...{ name: "groq", source: "built-in", providers: ["groq"], formats: [], hooks: [], replaces: [] },
        ...{ columns: [], metrics: [], hasOptions: false, hasCheck: false },
      },
    ]),
    broken: [],
  });
  expect(await json("config", "show")).toMatchObject({
    port: { value: 9347, from: "default" },
    aliases: { value: { fast: "mock/chat" }, from: "x.yaml:1" },
    keys: { value: [] },
  });
  writeFileSync(
    join(folder, "call.json"),
    JSON.stringify({ model: "fast", messages: [{ role: "user", content: "hi" }] }),
  );
  expect(await json("explain", "call.json")).toMatchObject({ model: "fast", losses: [] });
});

test("a flag means the same in every command that has it, because the parser and the shells rely on it", () => {
  const seen = new Map<string, string>();
  for (const { flags } of COMMANDS)
    for (const { name, short, value, completes } of flags) {
      const shape = JSON.stringify([short, value !== undefined, completes]);
      expect([name, seen.get(name) ?? shape]).toEqual([name, shape]);
      seen.set(name, shape);
    }
});
