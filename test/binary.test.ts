/**
 * The compiled binary in an empty, hostile folder, as a user without rights. `bun run test` runs the wire tests and those that
 * start weir as a process with it, too.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildBinary } from "./faults/armour.ts";
import { environmentIn } from "./helpers/environment.ts";

const ROOT = resolve(import.meta.dir, "..");
const BINARY = join(ROOT, "dist/weir");
const NOBODY = 65532;

let folder: string;
let child: Bun.Subprocess<"ignore", "pipe", "pipe">;
let url: string;
let output = "";

beforeAll(async () => {
  buildBinary();
  folder = mkdtempSync(join(tmpdir(), "weir-binary-"));
  chmodSync(folder, 0o755);
  makeHostile(folder);
  dropPlugin(folder);
  child = Bun.spawn([...asNobody(), BINARY, "--port", "0"], {
    cwd: folder,
    env: environmentIn("/nonexistent", {
      BUN_CONFIG_VERBOSE_FETCH: "1",
      CANARY: "from-the-environment",
    }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  url = await address();
}, 600_000);

afterAll(async () => {
  child?.kill("SIGTERM");
  await child?.exited;
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Files that would run code or change settings, if the binary read them. */
function makeHostile(dir: string): void {
  const evil = join(dir, "evil.ts");
  writeFileSync(evil, `require("fs").writeFileSync(${JSON.stringify(join(dir, "owned"))}, "x");`);
  writeFileSync(join(dir, "bunfig.toml"), `preload = ["./evil.ts"]\n`);
  writeFileSync(join(dir, ".env"), "WEIR_PORT=1\nOPENAI_API_KEY=sk-from-dotenv\nWEIR_HOST=0.0.0.0\n");
  writeFileSync(join(dir, "tsconfig.json"), `{"compilerOptions":{"paths":{"weir":["./evil.ts"]}}}`);
  writeFileSync(
    join(dir, "package.json"),
    `{"name":"weir","type":"commonjs","imports":{"weir":"./evil.ts"}}`,
  );
}

function dropPlugin(dir: string): void {
  mkdirSync(join(dir, "plugins"));
  writeFileSync(
    join(dir, "plugins", "shout.ts"),
    `import { definePlugin, type ChatEvent, type ChatRequest, NO_USAGE } from "weir";
     async function* generate(request: ChatRequest): AsyncGenerator<ChatEvent> {
       const last = request.turns.at(-1)?.blocks[0];
       const text = last?.type === "text" ? last.text.toUpperCase() : "?";
       yield { type: "message-start", id: "shout", model: request.model };
       yield { type: "block-start", index: 0, block: { type: "text" } };
       yield { type: "block-delta", index: 0, delta: text };
       yield { type: "block-end", index: 0 };
       yield { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE, input: 1, output: 1 } };
     }
     export default definePlugin({ name: "shout", providers: [{ name: "shout", generate }] });`,
  );
  writeFileSync(join(dir, "plugins", "broken.ts"), `export default { name: "broken", providers: 3 };`);
}

/** Root gives its rights away; another user has none to give. */
function asNobody(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--"];
}

async function address(): Promise<string> {
  const decoder = new TextDecoder();
  const { promise, resolve: found, reject } = Promise.withResolvers<string>();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) {
      output += decoder.decode(bytes);
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (match) found(match[0]);
    }
  };
  void read(child.stderr);
  void read(child.stdout);
  setTimeout(() => reject(new Error(`The binary did not start:\n${output}`)), 60_000).unref();
  return promise;
}

async function ask(path: string, body: object): Promise<Response> {
  return fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const hello = [{ role: "user", content: "hello" }];

test("the hostile folder has no effect", () => {
  expect(existsSync(join(folder, "owned"))).toBe(false);
  expect(output).not.toContain("sk-from-dotenv");
  expect(output).toMatch(/\d+ are off/);
  expect(output).not.toMatch(/^ +openai /m);
  expect(url).not.toEndWith(":1");
});

test("it runs as a user without rights", async () => {
  if (process.getuid?.() !== 0) return expect(process.getuid?.()).not.toBe(0);
  const status = await Bun.file(`/proc/${child.pid}/status`).text();
  expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(String(NOBODY));
});

test("its environment is scrubbed and the cap on requests lifted", async () => {
  if (process.platform !== "linux") return expect(process.platform).not.toBe("linux");
  const run = Bun.spawnSync(["tr", "\\0", "\\n"], { stdin: Bun.file(`/proc/${child.pid}/environ`) });
  const environ = run.stdout.toString();
  expect(environ).toContain("BUN_CONFIG_MAX_HTTP_REQUESTS=65336");
  expect(environ).not.toContain("VERBOSE_FETCH");
  expect(environ).toContain("CANARY=from-the-environment");
});

test("the mock answers in both formats", async () => {
  const chat = (await (
    await ask("/v1/chat/completions", { model: "mock/echo", messages: hello })
  ).json()) as {
    choices: { message: { content: string } }[];
  };
  expect(chat.choices[0]?.message.content).toBe("hello");
  const body = { model: "mock/echo", max_tokens: 50, messages: hello };
  const message = (await (await ask("/v1/messages", body)).json()) as { content: { text: string }[] };
  expect(message.content[0]?.text).toBe("hello");
});

test("a dropped plugin works with nothing installed, streamed and not, and a broken one is named", async () => {
  const answer = await ask("/v1/messages", { model: "shout/any", max_tokens: 50, messages: hello });
  expect(((await answer.json()) as { content: { text: string }[] }).content[0]?.text).toBe("HELLO");
  const stream = await ask("/v1/chat/completions", { model: "shout/any", stream: true, messages: hello });
  const text = await stream.text();
  expect(text).toContain('"content":"HELLO"');
  expect(text).toEndWith("data: [DONE]\n\n");
  expect(output).toContain("broken.ts: its providers must be a list");
});

test("in the repository where it was built, the plugins that are built in are not loaded once more", () => {
  const env = environmentIn(folder);
  const { stdout, stderr } = Bun.spawnSync([BINARY, "plugin", "list"], { cwd: ROOT, env });
  expect(stdout.toString()).toContain("groq");
  expect(stdout.toString() + stderr.toString()).not.toMatch(/plugins\/\w+\.ts|replaces|default export/);
});

test("setup copies it to a folder for programs, also over one that runs, and says what PATH lacks", async () => {
  const dir = join(folder, "programs");
  const setUp = (path: string) => {
    const env = { ...environmentIn(folder), PATH: path, WEIR_INSTALL_DIR: dir };
    return Bun.spawnSync([process.execPath, join(ROOT, "src/build/setup.ts")], { env }).stdout.toString();
  };
  expect(setUp("/usr/bin")).toContain(`is not in PATH. Add it: export PATH="${dir}:$PATH"`);
  const running = Bun.spawn([join(dir, "weir"), "--port", "0"], {
    ...{ cwd: dir, env: environmentIn(folder), stdout: "ignore", stderr: "pipe" },
  });
  await running.stderr.getReader().read();
  expect(setUp(`/usr/bin:${dir}`)).toEndWith(`is installed: ${join(dir, "weir")}\n`);
  expect(Bun.spawnSync([join(dir, "weir"), "--version"], { env: environmentIn(folder) }).success).toBe(true);
  running.kill("SIGTERM");
  await running.exited;
}, 60_000);

test("version and help", () => {
  const version = Bun.spawnSync([BINARY, "--version"], { cwd: folder });
  expect(version.stdout.toString().trim()).toMatch(/^\d+\.\d+\.\d+$/);
  const help = Bun.spawnSync([BINARY, "--help"], { cwd: folder });
  expect(help.stdout.toString()).toContain("serve");
  expect(Bun.spawnSync([BINARY, "surve"], { cwd: folder }).exitCode).toBe(2);
});

test("the binary contains the console, with the files that the document names", async () => {
  const address = /console (http:\/\/[^\s;]+)/.exec(output)?.[1] ?? "";
  const document = await fetch(address).then((response) => response.text());
  const files = [...document.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => new URL(match[1]!, address));
  // Beside icon, style and script there are parts of the script that all pages share.
  const endings = new Set(files.map(({ pathname }) => pathname.split(".").at(-1)));
  expect([...endings].sort()).toEqual(["css", "js", "svg"]);
  for (const file of files) expect((await fetch(file)).status).toBe(200);
});
