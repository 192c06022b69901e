/** `weir plugin new`: what it writes loads, works, and is understood by an editor; and which files of the folder are plugins. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { loadPlugins } from "../../src/external-plugins/discover.ts";
import { MAIN, runCommand } from "../helpers/command.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

let folder: string;
let plugins: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-plugin-new-"));
  plugins = join(folder, "plugins");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const weir = (...args: string[]) => runCommand(args, { cwd: folder });
const KINDS = ["host", "format", "program", "hook"];

/** Runs a command in a shell with a umask. */
function withUmask(mask: string, ...args: string[]) {
  const line = `umask ${mask}; exec "${process.execPath}" "${MAIN}" ${args.join(" ")}`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-c", line], {
    cwd: folder,
    env: environmentIn(folder),
  });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
}

test("with a umask of 002 weir loads the plugin it has just written", () => {
  for (const mask of ["002", "000", "022", "077"]) {
    expect(withUmask(mask, "plugin", "new", "my-host").code).toBe(0);
    expect(statSync(plugins).mode & 0o022).toBe(0);
    expect(statSync(join(plugins, "my-host.ts")).mode & 0o022).toBe(0);
    const listed = withUmask(mask, "plugin", "list");
    expect([mask, listed.code, listed.err]).toEqual([mask, 0, ""]);
    expect(listed.out).toContain("provider my-host");
    rmSync(plugins, { recursive: true });
  }
});

test("in a folder others can write to, nothing is written and the remedy is named", async () => {
  mkdirSync(plugins);
  chmodSync(plugins, 0o757);
  const { code, err } = await weir("plugin", "new", "my-host");
  expect([code, err]).toEqual([1, expect.stringContaining("run chmod o-w plugins")]);
  expect(existsSync(join(plugins, "my-host.ts"))).toBe(false);
});

test("each kind loads and lists what it brings", async () => {
  for (const kind of KINDS) expect((await weir("plugin", "new", `my-${kind}`, "--kind", kind)).code).toBe(0);
  const { code, out, err } = await weir("plugin", "list");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/my-host +provider my-host /);
  expect(out).toMatch(/my-format +provider my-format, format my-format /);
  expect(out).toMatch(/my-program +provider my-program /);
  expect(out).toMatch(/my-hook +hook done /);
});

test("an editor that opens one file knows its types", async () => {
  const lib = ["esnext", "dom", "dom.iterable", "dom.asynciterable"];
  const options = { strict: true, noEmit: true, target: "esnext", module: "preserve", types: [], lib };
  for (const kind of KINDS) await weir("plugin", "new", `my-${kind}`, "--kind", kind);
  const check = (file: string) => {
    const tsconfig = { compilerOptions: options, files: [file] };
    writeFileSync(join(plugins, "tsconfig.json"), JSON.stringify(tsconfig));
    const { stdout, stderr } = Bun.spawnSync([process.execPath, "check"], { cwd: plugins });
    return stdout.toString() + stderr.toString();
  };
  for (const kind of KINDS)
    expect([kind, check(`my-${kind}.ts`)]).toEqual([kind, expect.stringContaining("No type errors")]);
  const text = readFileSync(join(plugins, "my-host.ts"), "utf8");
  writeFileSync(join(plugins, "my-host.ts"), text.replace("baseUrl", "baseURL"));
  expect(check("my-host.ts")).not.toContain("No type errors");
});

test("a name that replaces a built-in provider is said, at once and in the list", async () => {
  expect((await weir("plugin", "new", "groq")).out).toContain(
    "The plugin replaces the built-in provider groq",
  );
  expect((await weir("plugin", "new", "mine")).out).not.toContain("replaces");
  expect((await weir("plugin", "list")).out).toMatch(/groq +provider groq \(replaces the built-in one\)/);
  const taken = await weir("plugin", "new", "messages", "--kind", "format");
  expect([taken.code, taken.err]).toEqual([2, expect.stringContaining("built-in format")]);
});

test("an unknown kind is a mistake with a suggestion", async () => {
  const { code, err } = await weir("plugin", "new", "mine", "--kind", "hok");
  expect([code, err]).toEqual([2, expect.stringContaining("did you mean hook?")]);
});

/** A gateway with one plugin as `weir plugin new` writes it. */
async function startWith(kind: string, env: Record<string, string> = {}): Promise<RunningGateway> {
  await weir("plugin", "new", "acme-x", "--kind", kind);
  const text = readFileSync(join(plugins, "acme-x.ts"), "utf8");
  return startGateway({ plugins: { "acme-x.ts": text }, env, target: "process" });
}

async function chat(gateway: RunningGateway, more: Record<string, unknown> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({
      model: "acme-x/m",
      messages: [{ role: "user", content: "good morning" }],
      ...more,
    }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("the program answers a call", async () => {
  const gateway = await startWith("program");
  try {
    expect(await chat(gateway)).toMatchObject({ status: 200, text: expect.stringContaining("good morning") });
    const streamed = await chat(gateway, { stream: true });
    expect(streamed.text).toEndWith("data: [DONE]\n\n");
  } finally {
    await gateway.stop();
  }
});

test("the hook sees a call", async () => {
  const gateway = await startWith("hook");
  try {
    await chat(gateway, { model: "mock/echo" });
    const seen = () => gateway.log.some((line) => line.startsWith("acme-x: no key mock/echo complete"));
    for (let tries = 0; tries < 1000 && !seen(); tries++) await Bun.sleep(20);
    expect(seen()).toBe(true);
  } finally {
    await gateway.stop();
  }
});

test("the host and the format carry a call, a stream and an error", async () => {
  const bodies: unknown[] = [];
  const upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = (await request.json()) as { model: string; stream?: boolean };
      bodies.push(body);
      const path = new URL(request.url).pathname;
      if (path === "/chat/completions") return Response.json(CHAT_ANSWER);
      if (path !== "/generate") return new Response("", { status: 418 });
      if (body.model === "busy") return Response.json({ error: "come back later" }, { status: 429 });
      const end = { ended: "stop", tokens: { in: 3, out: 2 } };
      if (!body.stream) return Response.json({ text: "all is well", ...end });
      const cut = body.model === "cut" ? [] : [end];
      const records = [{ text: "all is " }, { text: "well" }, ...cut];
      const text = records.map((record) => `data: ${JSON.stringify(record)}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const env = { ACME_X_API_KEY: "k", ACME_X_BASE_URL: `http://127.0.0.1:${upstream.port}` };
  try {
    const host = await startWith("host", env);
    try {
      expect(await chat(host)).toMatchObject({ status: 200, text: expect.stringContaining("from the host") });
    } finally {
      await host.stop();
    }
    rmSync(plugins, { recursive: true });
    const format = await startWith("format", env);
    try {
      const whole = await chat(format, { max_tokens: 5, top_p: 0.5 });
      expect(JSON.parse(whole.text)).toMatchObject({
        choices: [{ message: { content: "all is well" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      });
      expect(whole.headers.get("x-weir-warnings")).toBe("dropped:top_p");
      expect(bodies.at(-1)).toEqual({
        model: "m",
        turns: [{ role: "user", text: "good morning" }],
        stream: false,
        max_tokens: 5,
      });
      const streamed = await chat(format, { stream: true });
      expect(streamed.text).toContain('"content":"well"');
      expect(streamed.text).toEndWith("data: [DONE]\n\n");
      const busy = await chat(format, { model: "acme-x/busy" });
      expect([busy.status, busy.text]).toEqual([429, expect.stringContaining("come back later")]);
      const image = [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }];
      const refused = await chat(format, { messages: [{ role: "user", content: image }] });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("only text")]);
    } finally {
      await format.stop();
    }
  } finally {
    await upstream.stop(true);
  }
});

const CHAT_ANSWER = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "from the host" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** A plugin whose name is what it imports. */
const IMPORTING = `import { definePlugin, type Plugin } from "weir";
  import { name } from "./_names.ts";
  export default definePlugin({ name }) satisfies Plugin;`;

test("files in subfolders and files whose names begin with _ are no plugins and may be imported", async () => {
  mkdirSync(join(plugins, "lib"), { recursive: true });
  writeFileSync(join(plugins, "a.ts"), IMPORTING);
  writeFileSync(join(plugins, "_names.ts"), `export { name } from "./lib/name";`);
  writeFileSync(join(plugins, "lib/name.ts"), `export const name: string = "first";`);
  writeFileSync(join(plugins, "lib/other.ts"), `throw new Error("nobody imports this");`);
  writeFileSync(join(plugins, "_notes.ts"), `throw new Error("nobody imports this");`);
  const load = (allow: string[] = []) => loadPlugins({ dir: plugins, allow, loadMs: 60_000 });
  const names = async () => (await load()).plugins.map(({ plugin }) => plugin.name);
  expect(await load()).toMatchObject({ plugins: [{ plugin: { name: "first" } }], broken: [] });
  // What a reload does: an import of an import has changed.
  writeFileSync(join(plugins, "lib/name.ts"), `export const name: string = "second";`);
  expect(await names()).toEqual(["second"]);
});

test("an imported file is held to the rules of the plugin that imports it", async () => {
  mkdirSync(join(plugins, "lib"), { recursive: true });
  const texts = {
    "b.ts": IMPORTING,
    "_names.ts": `export { name } from "./lib/name.ts";`,
    "lib/name.ts": `export const name = "x";`,
  };
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(plugins, file), text);
  const load = (allow: string[] = []) => loadPlugins({ dir: plugins, allow, loadMs: 60_000 });
  const digests = Object.values(texts).map((text) =>
    new Bun.CryptoHasher("sha256").update(text).digest("hex"),
  );
  expect(await load(digests)).toMatchObject({ plugins: [{ plugin: { name: "x" } }], broken: [] });
  const unlisted = await load(digests.slice(0, 2));
  expect(unlisted.plugins).toEqual([]);
  expect(unlisted.broken[0]?.message).toContain(
    `imports lib/name.ts: is not one of plugins.allow; its SHA-256 is ${digests[2]}`,
  );
  chmodSync(join(plugins, "lib/name.ts"), 0o646);
  expect((await load()).broken[0]?.message).toContain(
    "imports lib/name.ts: can be written by everyone; run chmod o-w name.ts",
  );
  chmodSync(join(plugins, "lib/name.ts"), 0o644);
  chmodSync(join(plugins, "lib"), 0o757);
  expect((await load()).broken[0]?.message).toContain(
    "imports lib/name.ts: the folder can be written by everyone; run chmod o-w lib",
  );
});
