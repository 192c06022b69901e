/** `weir exec` as a user runs it, with clients of the test's own. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandOptions, PROGRAM, runCommand } from "../../../../test/helpers/command.ts";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { TARGET } from "../../../../test/helpers/gateway.ts";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

const ROOT = join(import.meta.dir, "../../../..");

let folder: string;
let stops: (() => unknown)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-exec-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true, force: true });
});

const exec = (args: string[], options: Partial<CommandOptions> = {}) =>
  runCommand(["exec", ...args], { cwd: folder, ...options });

/** A client that is a script. */
async function script(text: string): Promise<string[]> {
  await Bun.write(join(folder, "client.ts"), text);
  return ["--", process.execPath, join(folder, "client.ts")];
}

const PRINT_ENV = `console.log(JSON.stringify(process.env));`;

async function startGateway(config = "{}"): Promise<Serving> {
  const gateway = await serve({ config, workers: 1, binary: TARGET === "binary" });
  stops.push(() => gateway.end());
  return gateway;
}

function startHost(answer = completion("from the host")): Upstream {
  // As servers without the format of Anthropic do.
  const host = startUpstream(({ path }) => (path === "/v1/chat/completions" ? json(answer) : json({}, 404)));
  stops.push(() => host.stop());
  return host;
}

function completion(content: string): object {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  return { id: "c1", object: "chat.completion", created: 1, model: "m", choices };
}

test("SDKs of three vendors in the client find a gateway without any setting, and weir ends with the client's exit code", async () => {
  const client = await script(`
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
const model = "mock/chat";
const messages = [{ role: "user" as const, content: "Hello" }];
console.log((await new OpenAI().chat.completions.create({ model, messages })).choices[0]!.message.content);
console.log((await new OpenAI().responses.create({ model, input: "Hello" })).output_text);
console.log(JSON.stringify((await new Anthropic().messages.create({ model, max_tokens: 99, messages })).content));
console.log((await new GoogleGenAI({}).models.generateContent({ model, contents: "Hello" })).text);
process.exit(7);
`);
  const { code, out, err } = await exec(client);
  expect([code, out.trim().split("\n").length]).toEqual([7, 4]);
  for (const line of out.trim().split("\n")) expect(line).toContain("Hello");
  expect(err).toContain("no provider has a key, so the mock answers");
});

test("one line names the gateway and the model, and the gateway ends with the client", async () => {
  const { out, err } = await exec(["--model", "mock/echo", ...(await script(PRINT_ENV))]);
  const url = (JSON.parse(out) as Record<string, string>)["WEIR_URL"]!;
  expect(err.split("\n")[0]).toMatch(
    /^weir: .+ asks a gateway on http:\/\/127\.0\.0\.1:\d+, which ends with it; model mock\/echo$/,
  );
  expect(err).toContain(url);
  expect(
    await fetch(url).then(
      () => "answers",
      () => "gone",
    ),
  ).toBe("gone");
});

test("its own gateway admits its client alone", async () => {
  const client = await script(`
const ask = (key: string) => fetch(process.env["OPENAI_BASE_URL"] + "/models", { headers: { authorization: "Bearer " + key } });
console.log((await ask("another")).status, (await ask(process.env["OPENAI_API_KEY"]!)).status);
`);
  expect((await exec(client)).out).toBe("401 200\n");
});

test("keys of providers go to weir's own gateway, and the client gets one of weir", async () => {
  const host = startHost();
  const client = await script(`
import OpenAI from "openai";
const messages = [{ role: "user" as const, content: "Hello" }];
console.log((await new OpenAI().chat.completions.create({ model: "gpt-5.4", messages })).choices[0]!.message.content);
${PRINT_ENV}
`);
  const env = { OPENAI_API_KEY: "sk-of-the-user", OPENAI_BASE_URL: `${host.url}/v1` };
  const { code, out, err } = await exec(client, { env });
  expect([code, out.split("\n")[0]]).toEqual([0, "from the host"]);
  expect(host.requests[0]!.headers.get("authorization")).toBe("Bearer sk-of-the-user");
  expect(out + err).not.toContain("sk-of-the-user");
});

test("a program that does not exist ends with 127, and one that cannot be run with 126", async () => {
  await Bun.write(join(folder, "text"), "no program");
  for (const [program, code] of [
    ["weir-no-such-program", 127],
    ["./weir-no-such-program", 127],
    ["./text", 126],
  ] as const)
    expect(await exec(["--", program])).toMatchObject({
      code,
      out: "",
      err: expect.stringMatching(new RegExp(`^weir: ${RegExp.escape(program)} cannot be run: [^\n]+\n$`)),
    });
});

test("a client that a signal ends gives 128 and the number of the signal", async () => {
  expect(await exec(["--", "sh", "-c", "kill -TERM $$"])).toMatchObject({ code: 143 });
  expect(await exec(["--", "sh", "-c", "kill -KILL $$"])).toMatchObject({ code: 137 });
});

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT"] as const;
const REPORT_SIGNALS = `
for (const name of ${JSON.stringify(SIGNALS)}) process.on(name, () => { console.log("got " + name); process.exit(9); });
console.log("ready");
setInterval(() => {}, 1_000);
`;

test.each(SIGNALS)("%s reaches the client, and weir ends after it", async (name) => {
  const args = await script(REPORT_SIGNALS);
  const ended = await signalled(["exec", ...args], folder, name);
  expect(ended).toMatchObject({ code: 9, out: `ready\ngot ${name}\n` });
});

/** Runs weir until the client is ready, sends a signal to weir alone, and waits for the end. */
async function signalled(args: string[], cwd: string, name: NodeJS.Signals) {
  const child = Bun.spawn([...PROGRAM, ...args], {
    cwd,
    env: environmentIn(cwd),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 60_000,
  });
  let out = "";
  const drained = (async () => {
    for await (const bytes of child.stdout) {
      out += Buffer.from(bytes).toString();
      if (out === "ready\n") child.kill(name);
    }
  })();
  const err = await new Response(child.stderr).text();
  await drained;
  return { code: await child.exited, out, err };
}

test("a command line that lacks something ends with 2 and a sentence", async () => {
  for (const [args, sentence] of [
    [[], "weir exec requires a command behind --: weir exec -- claude"],
    [["claude"], "weir exec takes its command behind --: weir exec -- claude"],
    [
      ["--url", "http://127.0.0.1:1", "--config", "weir.yaml", "--", "true"],
      "--url names a gateway that runs; --config cannot change it",
    ],
    [
      ["--url", "9347", "--", "true"],
      "--url must be the base URL of a gateway, such as http://127.0.0.1:9347",
    ],
  ] as const)
    expect(await exec([...args])).toMatchObject({ code: 2, out: "", err: `weir: ${sentence}\n` });
});

test("a model that no provider serves ends with 1, and the client is not started", async () => {
  const { code, out, err } = await exec(["--model", "claude-opus-5-5", "--", "echo", "started"], {
    env: { OPENAI_API_KEY: "sk-of-the-user" },
  });
  expect([code, out]).toEqual([1, ""]);
  expect(err).toBe(
    "weir: The model `claude-opus-5-5` belongs to anthropic, which is off: set ANTHROPIC_API_KEY to its API key\n",
  );
});

test("a gateway of this user that runs is used, also where one is named by --url, --port or WEIR_URL", async () => {
  const gateway = await startGateway();
  const port = new URL(gateway.url).port;
  const client = await script(PRINT_ENV);
  const options = { cwd: gateway.folder };
  for (const run of [
    exec(client, options),
    exec(["--port", port, ...client], options),
    exec(["--url", `${gateway.url}/v1/`, ...client]),
    exec(client, { env: { WEIR_URL: gateway.url } }),
  ]) {
    const { code, out, err } = await run;
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`asks the gateway on ${gateway.url}, which runs already`),
    ]);
    expect(JSON.parse(out)).toMatchObject({ WEIR_URL: gateway.url, ANTHROPIC_BASE_URL: gateway.url });
  }
});

test("--port 0, and a config, start a gateway beside one that runs; it is not used by another client", async () => {
  const gateway = await startGateway();
  const client = await script(PRINT_ENV);
  for (const flags of [
    ["--port", "0"],
    ["--config", "weir.yaml"],
  ]) {
    const { code, out, err } = await exec([...flags, ...client], { cwd: gateway.folder });
    expect([code, err]).toEqual([0, expect.stringContaining("which ends with it")]);
    expect(JSON.parse(out)["WEIR_URL"]).not.toBe(gateway.url);
  }
  const inner = [...PROGRAM, "exec", "--", "true"].map((word) => `'${word}'`).join(" ");
  const { err } = await exec(["--port", "0", "--", "sh", "-c", `unset WEIR_URL; ${inner}`], options(gateway));
  expect(err).toContain(`asks the gateway on ${gateway.url}, which runs already`);
});

const options = ({ folder: cwd }: Serving) => ({ cwd });

test("where several gateways run, weir names their ports", async () => {
  const gateway = await startGateway();
  const second = Bun.spawn([...PROGRAM, "serve", "--port", "0", "--workers", "1"], {
    cwd: gateway.folder,
    env: environmentIn(gateway.folder),
    stdio: ["ignore", "ignore", "pipe"],
  });
  stops.push(() => second.kill("SIGKILL"));
  let table = "";
  for await (const bytes of second.stderr)
    if ((table += Buffer.from(bytes).toString()).includes("try")) break;
  const ports = [gateway.url, /http:\/\/127.0.0.1:\d+/.exec(table)![0]].map((url) =>
    Number(new URL(url).port),
  );
  const { code, err } = await exec(["--", "true"], { cwd: gateway.folder });
  expect(code).toBe(1);
  expect(err).toContain("several gateways are running; choose one with --port");
  for (const port of ports) expect(err).toContain(String(port));
  const { err: chosen } = await exec(["--port", String(ports[1]), "--", "true"], { cwd: gateway.folder });
  expect(chosen).toContain(`asks the gateway on http://127.0.0.1:${ports[1]}, which runs already`);
});

test("where no gateway answers, weir says what to do", async () => {
  const url = `http://127.0.0.1:${freePort()}`;
  const { code, err } = await exec(["--url", url, "--", "true"]);
  expect([code, err]).toEqual([
    1,
    `weir: no gateway answers on ${url}; name another one with --url, or start one for this command with --port 0\n`,
  ]);
});

test("on a gateway with keys weir makes one, which ends with the client, also when a signal ends weir", async () => {
  const gateway = await startGateway();
  gateway.run("keys", "create", "alice");
  const client = await script(`
const { status } = await fetch(process.env["OPENAI_BASE_URL"] + "/models", {
  headers: { authorization: "Bearer " + process.env["OPENAI_API_KEY"] },
});
console.log(status);
`);
  expect(await exec(client, options(gateway))).toMatchObject({ code: 0, out: "200\n" });
  const states = () => JSON.parse(gateway.run("keys", "list", "--revoked", "--json").output) as KeyRow[];
  const made = states().filter(({ name }) => name.startsWith("exec-bun-"));
  expect(made).toMatchObject([{ state: "revoked", expiresAt: expect.any(Number) }]);
  await signalled(["exec", ...(await script(REPORT_SIGNALS))], gateway.folder, "SIGTERM");
  expect(
    states()
      .map(({ name, state }) => [name.split("-")[0], state])
      .sort(),
  ).toEqual([
    ["alice", "active"],
    ["exec", "revoked"],
    ["exec", "revoked"],
  ]);
});

interface KeyRow {
  name: string;
  state: string;
}

test("WEIR_API_KEY is used where it is set; without one a gateway elsewhere is an error that says what to do", async () => {
  const gateway = await startGateway(JSON.stringify({ keys: ["alice:key-of-alice-0123456789"] }));
  const client = await script(PRINT_ENV);
  const named = ["--url", gateway.url, ...client];
  const { out } = await exec(named, { env: { WEIR_API_KEY: "key-of-alice-0123456789" } });
  expect(JSON.parse(out)).toMatchObject({ OPENAI_API_KEY: "key-of-alice-0123456789" });
  expect(await exec(named)).toMatchObject({
    code: 1,
    err: `weir: the gateway on ${gateway.url} wants a key; set WEIR_API_KEY to one (weir keys create NAME, where it runs)\n`,
  });
  expect(await exec(named, { env: { WEIR_API_KEY: "another" } })).toMatchObject({
    code: 1,
    err: `weir: the gateway on ${gateway.url} refuses the key in WEIR_API_KEY; set it to a key of that gateway\n`,
  });
});

test("a running gateway that does not serve the model is an error", async () => {
  const gateway = await startGateway();
  const { code, err } = await exec(["--model", "no-such-model", "--", "echo"], options(gateway));
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(`the gateway on ${gateway.url} does not serve no-such-model`),
  ]);
});

/** Asks for a model in the words of Anthropic's SDK. */
const ASK = `
import Anthropic from "@anthropic-ai/sdk";
const ask = async (model: string) => {
  const messages = [{ role: "user" as const, content: "Hello" }];
  const { content } = await new Anthropic({ maxRetries: 0 }).messages.create({ model, max_tokens: 99, messages });
  return content[0]!.type === "text" ? content[0]!.text : "";
};
for (const model of process.argv.slice(2)) console.log(await ask(model).catch(({ status }) => status));
`;

test("a model of a local server needs no config, and answers what else the client asks for and no provider serves", async () => {
  const host = startHost(completion("from ollama"));
  const env = { OLLAMA_HOST: new URL(host.url).host };
  const client = await script(ASK);
  const { code, out, err } = await exec(
    ["--model", "ollama/qwen3", ...client, "ollama/qwen3", "claude-haiku-4-5", "gpt-5.4-nano"],
    { env },
  );
  expect([code, out]).toEqual([0, "from ollama\n".repeat(3)]);
  expect(err).toContain("model ollama/qwen3");
  const bodies = host.requests
    .filter(({ path }) => path === "/v1/chat/completions")
    .map(({ body }) => JSON.parse(body.toString()));
  expect(bodies.map(({ model }) => model)).toEqual(["qwen3", "qwen3", "qwen3"]);
});

test("a model of a local server that does not run ends with 1 and says where weir looked for it", async () => {
  // Nothing listens on the usual port of SGLang here.
  expect(await exec(["--model", "sglang/some-model", "--", "echo", "started"])).toMatchObject({
    code: 1,
    out: "",
    err: "weir: no sglang answers on http://127.0.0.1:30000; start it, or set SGLANG_BASE_URL to its address\n",
  });
});

test("without a model and a key the mock answers for every name", async () => {
  const { code, out } = await exec([...(await script(ASK)), "claude-opus-5-5", "qwen-of-nobody"]);
  expect([code, out.trim().split("\n").length]).toEqual([0, 2]);
  for (const line of out.trim().split("\n")) expect(line).toContain("Hello");
});

test("on a running gateway weir names a model that the client also asks for and that no provider serves", async () => {
  const gateway = await startGateway(
    JSON.stringify({ providers: { openai: { apiKey: "k", baseUrl: "http://127.0.0.1:1" } } }),
  );
  await Bun.write(join(folder, "gemini"), "#!/bin/sh\nexit 0\n");
  Bun.spawnSync(["chmod", "+x", join(folder, "gemini")]);
  const { code, err } = await exec(
    ["--model", "openai/gpt-5.4", "--", join(folder, "gemini")],
    options(gateway),
  );
  expect([code, err]).toEqual([
    0,
    expect.stringContaining(
      'weir: it also asks for gemini-3.5-flash-lite, which that gateway does not serve; an alias in its config answers it: aliases: {"gemini-3.5-flash-lite": "openai/gpt-5.4"}',
    ),
  ]);
});

test("a name that another provider serves, or the config, stays with them", async () => {
  const [ollama, anthropic] = [startHost(completion("from ollama")), startHost(completion("from the other"))];
  const config = {
    providers: {
      ollama: { baseUrl: `${ollama.url}/v1`, speaks: "chat-completions" },
      other: { baseUrl: `${anthropic.url}/v1`, speaks: "chat-completions", models: ["claude-haiku-*"] },
    },
    aliases: { "gpt-small": "other/claude-haiku-1" },
  };
  await Bun.write(join(folder, "weir.yaml"), JSON.stringify(config));
  const client = await script(ASK);
  const { out } = await exec([
    "--model",
    "ollama/qwen3",
    ...client,
    "claude-haiku-4-5",
    "gpt-small",
    "gpt-large",
  ]);
  expect(out).toBe("from the other\nfrom the other\nfrom ollama\n");
});

test("an address of weir itself in the environment is not taken for that of a provider", async () => {
  const env = {
    ANTHROPIC_BASE_URL: "http://127.0.0.1:9347",
    ANTHROPIC_API_KEY: "unused",
    OPENAI_BASE_URL: "http://localhost:9347/v1",
  };
  const { code, out, err } = await exec(["--model", "mock/chat", ...(await script(ASK)), "mock/chat"], {
    env,
  });
  expect([code, out]).toEqual([0, expect.stringContaining("Hello")]);
  expect(err).toContain(
    "weir: ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY and OPENAI_BASE_URL are not used for a provider: the address is one of weir itself",
  );
});

test("a folder of the user's project that is named plugins is no folder of weir", async () => {
  await mkdir(join(folder, "plugins"));
  await Bun.write(
    join(folder, "plugins", "mine.ts"),
    `console.log("loaded"); throw new Error("not for weir");`,
  );
  const { code, out, err } = await exec(["--model", "mock/chat", "--", "true"]);
  expect([code, out, err.includes("not for weir")]).toEqual([0, "", false]);
  expect(err.split("\n").filter((line) => !line.startsWith("weir: "))).toEqual([""]);
});

test("files for a client are deleted when it has ended", async () => {
  await mkdir(join(folder, "tmp"));
  await Bun.write(join(folder, "pi"), "#!/bin/sh\nls $TMPDIR\ncat $2 | head -3\n");
  Bun.spawnSync(["chmod", "+x", join(folder, "pi")]);
  const { code, out } = await exec(["--model", "mock/chat", "--", "./pi"], {
    env: { TMPDIR: join(folder, "tmp") },
  });
  expect([code, out]).toEqual([0, expect.stringContaining("weir-client-")]);
  expect(
    await until(
      () =>
        !Bun.spawnSync(["ls", join(folder, "tmp")])
          .stdout.toString()
          .includes("weir-client-"),
    ),
  ).toBe(true);
});
