/** Every command, run as a user runs it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { runCommand } from "../helpers/command.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

const ROOT = resolve(import.meta.dir, "../..");

// Each command is a process of its own.
setDefaultTimeout(120_000);

let folder: string;
let gateway: RunningGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-cli-"));
  gateway = await startGateway({ config: { keys: ["alice:a-key-that-is-long-enough"] } });
});

afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const weir = (args: string[], more: { env?: Record<string, string>; input?: string } = {}) =>
  runCommand(args, { cwd: folder, ...more });

test("help and version", async () => {
  const { code, out } = await weir(["--help"]);
  expect(code).toBe(0);
  for (const name of ["serve", "check", "models", "chat", "plugin new", "plugin list", "config schema"])
    expect(out).toContain(name);
  expect((await weir(["chat", "--help"])).out).toContain("--system TEXT");
  expect((await weir(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("unknown words exit with 2, one sentence and a suggestion", async () => {
  const rows: [string[], string][] = [
    [["modles"], "models"],
    [["plugin", "nwe"], "plugin new"],
    [["serve", "--prot", "1"], "--port"],
    [["serve", "--port"], "--port requires a value"],
    [["plugin", "new", "Bad Name"], "lower-case"],
  ];
  for (const [args, hint] of rows) {
    const { code, err } = await weir(args);
    expect([code, err]).toEqual([2, expect.stringContaining(hint)]);
    expect(err.trim().split("\n").length).toBe(1);
  }
});

test("a wrong config exits with 78 and names file, line and path", async () => {
  writeFileSync(join(folder, "wrong.yaml"), "host: 127.0.0.1\nport: abc\n");
  const { code, err } = await weir(["serve", "--config", "wrong.yaml"]);
  expect(code).toBe(78);
  expect(err).toContain("wrong.yaml:2");
  expect(err).toContain("port");
});

test("an address others can reach needs keys", async () => {
  const { code, err } = await weir(["serve", "--host", "0.0.0.0", "--port", "0"]);
  expect(code).toBe(78);
  expect(err).toContain("key");
});

test("check: what is on, what is off and why, what cannot be reached", async () => {
  const fine = await weir(["check"]);
  expect(fine.code).toBe(0);
  expect(fine.out).toContain("set OPENAI_API_KEY to its API key");
  const env = { OPENAI_API_KEY: "sk-canary-check", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
  const broken = await weir(["check"], { env });
  expect(broken.code).toBe(1);
  expect(broken.err).toContain("openai at http://127.0.0.1:9/v1 refused the connection");
  expect(broken.out + broken.err).not.toContain("sk-canary-check");
  expect((await weir(["check", "--offline"], { env })).code).toBe(0);
  const served = await weir(["check"], {
    env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${gateway.url}/v1` },
  });
  expect(served.err).toContain("refuses its API key (status 401)");
});

test("models: who serves a name and why", async () => {
  const env = { OPENAI_API_KEY: "k" };
  const named = await weir(["models", "gpt-5.4"], { env });
  expect(named.out).toContain("openai/gpt-5.4");
  expect(named.out).toContain("native");
  expect(named.out).toContain("pattern gpt-*");
  expect((await weir(["models"], { env })).out).toContain("mock/echo");
  expect(named.out).toMatch(/what is known of it\n {2}does +chat\n {2}context window +1,050,000 tokens\n/);
  expect(named.out).toMatch(/ price +\$2\.5 in, \$15 out.* a million tokens\n?/);
  const listed = JSON.parse((await weir(["models", "--json"], { env })).out) as {
    models: { id: string; facts?: { contextWindow?: number } }[];
  };
  expect(listed.models.find(({ id }) => id === "gpt-5.4")?.facts?.contextWindow).toBe(1_050_000);
  const unknown = await weir(["models", "nobody-has-this"], { env });
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain("No provider serves");
});

test("deployments, routes and fallbacks are shown, and a mistake in them names its line", async () => {
  const file = join(folder, "routes.yaml");
  writeFileSync(
    file,
    `providers:
  openai:
    deployments:
      - { name: eu, apiKey: k-one, baseUrl: "http://127.0.0.1:1/v1", weight: 3 }
      - { name: us, apiKey: k-two, baseUrl: "http://127.0.0.1:2/v1" }
routes:
  smart: [openai/gpt-5, { model: mock/chat, priority: 1 }, groq/llama]
fallbacks:
  gpt-*: [smart]
`,
  );
  const plan = (await weir(["models", "smart", "--config", file])).out;
  expect(plan).toMatch(/openai\/eu gpt-5 +target +3 +0 +http:\/\/127.0.0.1:1/);
  expect(plan).toMatch(/mock chat +target +1 +1 +in this process/);
  const checked = (await weir(["check", "--config", file])).out;
  expect(checked).toMatch(/openai\/us +unreachable +http:\/\/127.0.0.1:2/);
  expect(checked).toContain("smart  openai/gpt-5, mock/chat (priority 1), groq/llama (off)");
  expect(checked).toContain("gpt-*  falls back to smart");
  expect(checked).not.toContain("k-one");
  writeFileSync(file, "routes:\n  smart:\n    - mock/chat\n    - opnai/gpt-5\n");
  const wrong = await weir(["check", "--offline", "--config", file]);
  expect(wrong.code).toBe(78);
  expect(wrong.err).toContain(`${file.split("/").at(-1)}:4: No provider serves the model \`opnai/gpt-5\``);
  rmSync(file);
});

test("plugin new writes a plugin that loads and type checks with nothing installed", async () => {
  expect((await weir(["plugin", "new", "my-host"])).code).toBe(0);
  expect((await weir(["plugin", "new", "my-host"])).err).toContain("weir wrote nothing");
  const listed = await weir(["plugin", "list"]);
  expect(listed.out).toContain("my-host.ts");
  expect(listed.err).toBe("");
  const served = await weir(["models", "my-host/x"], { env: { MY_HOST_API_KEY: "k" } });
  expect(served.out).toContain("https://api.example.com/v1/chat/completions");
  writeFileSync(join(folder, "plugins", "program.ts"), PROGRAM);
  const options = { strict: true, noEmit: true, target: "esnext", module: "preserve", types: [] };
  const lib = ["esnext", "dom", "dom.iterable", "dom.asynciterable"];
  writeFileSync(
    join(folder, "plugins", "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, lib } }),
  );
  const check = Bun.spawnSync([process.execPath, "check"], { cwd: join(folder, "plugins") });
  expect(check.stdout.toString() + check.stderr.toString()).toContain("No type errors");
  const wrong = PROGRAM.replace('type: "text"', 'type: "txt"');
  writeFileSync(join(folder, "plugins", "program.ts"), wrong);
  expect(Bun.spawnSync([process.execPath, "check"], { cwd: join(folder, "plugins") }).exitCode).toBe(1);
  rmSync(join(folder, "plugins"), { recursive: true });
});

const PROGRAM = `import { type Call, type ChatEvent, type ChatRequest, definePlugin, GatewayError, NO_USAGE } from "weir";
async function* generate(request: ChatRequest, call: Call): AsyncGenerator<ChatEvent> {
  if (request.turns.length > 99) throw new GatewayError("too-large", "Too long.", { param: "messages" });
  call.reportLoss("dropped", "seed");
  yield { type: "message-start", id: "x", model: request.model };
  yield { type: "block-start", index: 0, block: { type: "text" } };
  yield { type: "block-end", index: 0 };
  yield { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE } };
}
export default definePlugin({ name: "program", providers: [{ name: "program", generate }] });
`;

test("in the project's own folder the shipped files are not loaded a second time", async () => {
  const child = Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), "plugin", "list"], {
    cwd: ROOT,
    env: environmentIn(folder),
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await new Response(child.stderr).text()).toBe("");
  expect(await new Response(child.stdout).text()).not.toContain("plugins/");
});

test("config schema and config show", async () => {
  const schema = JSON.parse((await weir(["config", "schema"])).out) as {
    properties: Record<string, unknown>;
  };
  expect(Object.keys(schema.properties)).toContain("providers");
  const env = { WEIR_PORT: "9999", WEIR_API_KEYS: "bob:a-secret-canary-key" };
  const shown = await weir(["config", "show"], { env });
  expect(shown.out).toMatch(/port +9999 +WEIR_PORT/);
  expect(shown.out).toMatch(/listen\.unix +none +default/);
  expect(shown.out).toMatch(/listen\.mode +0600 +default/);
  expect(shown.out).toContain("bob");
  expect(shown.out).not.toContain("canary-");
});

test("chat answers a pipe, with a key, and says in one sentence what is wrong", async () => {
  const args = ["chat", "mock/echo", "--url", gateway.url];
  const said = await weir([...args, "--key", "a-key-that-is-long-enough"], {
    input: "good morning\nand again\n",
  });
  expect([said.code, said.out]).toEqual([0, "good morning\nand again\n"]);
  const env = { WEIR_API_KEYS: "x:a-key-that-is-long-enough" };
  expect((await weir(args, { env, input: "hi\n" })).out).toBe("hi\n");
  const refused = await weir(args, { input: "hi\n" });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("No API key was given")]);
  const nobody = await weir(["chat", "--url", "http://127.0.0.1:9"], { input: "hi\n" });
  expect(nobody.err).toContain("no gateway answers at http://127.0.0.1:9");
  const cut = await weir(["chat", "mock/cut", "--url", gateway.url, "--key", "a-key-that-is-long-enough"], {
    input: "hi\n",
  });
  expect(cut.code).toBe(1);
});

test("nothing but the command's own folder is touched", () => {
  expect(existsSync(join(folder, "plugins"))).toBe(false);
});
