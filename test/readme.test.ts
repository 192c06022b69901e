/**
 * Commands, configs and programs that the documents show are run here, those of README.md in
 * test/documents/first-hour.slow.test.ts. Tables that are made from code are compared with it (`UPDATE=1 bun test
 * test/readme.test.ts` rewrites them).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "./helpers/command.ts";
import { environmentIn } from "./helpers/environment.ts";
import { builtIn } from "../plugins/index.ts";
import { mockModels } from "../plugins/mock/models.ts";
import { COMMANDS, FEATURES } from "./helpers/commands.ts";
import { synopsis } from "../src/cli/help.ts";
import type { TSchema } from "@sinclair/typebox";
import { OPTIONS } from "./helpers/features.ts";
import { traitsSchema } from "../src/config/sections/traits.ts";
import type { Provider } from "../src/core/provider.ts";
import { FAMILIES } from "../src/keeper/metrics/families.ts";
import { isVariableList, variableName } from "../src/core/settings.ts";
import { listGoals } from "./faults/list.ts";
import {
  blockOf,
  blocksOf,
  checkPart,
  DOCUMENTS,
  markdownTable,
  readDocument,
  ROOT,
  withPart,
} from "./helpers/documents.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { errorTable, finishTable } from "./helpers/dialects.ts";
import { makeSilentTable } from "./helpers/left-out.ts";
import { makeMatrix } from "./helpers/matrix.ts";
import { json, startUpstream } from "./helpers/upstream.ts";

let gateway: RunningGateway;

beforeAll(async () => {
  const plugin = blockOf("README.md", "ts", "definePlugin");
  gateway = await startGateway({ plugins: { "acme.ts": plugin }, env: { ACME_API_KEY: "k" } });
});

afterAll(() => gateway.stop());

const here = (code: string) => code.replaceAll("http://127.0.0.1:9347", gateway.url);

/** Runs a snippet inside the repository, so that it finds the SDKs. */
async function runSnippet(code: string): Promise<string> {
  const file = join(ROOT, "test", `.snippet-${crypto.randomUUID()}.ts`);
  await Bun.write(file, here(code));
  try {
    const run = Bun.spawn([process.execPath, file], { stdout: "pipe", stderr: "pipe" });
    const [output, errors] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ]);
    expect(errors).toBe("");
    return output;
  } finally {
    await Bun.file(file).delete();
  }
}

test("the SDK snippets print the mock's answer", async () => {
  const snippets = [
    blockOf("src/config/README.md", "ts", "generateContent"),
    blockOf("src/config/README.md", "ts", "ollama.chat"),
  ];
  for (const snippet of snippets) expect(await runSnippet(snippet)).toContain("Hello");
});

test("the snippet continues an answer by its id, and Codex is pointed at the right address", async () => {
  const storing = await startGateway({ env: { WEIR_STATE: "none" } });
  try {
    const snippet = blockOf("src/cli/README.md", "ts", "previous_response_id");
    expect(await runSnippet(snippet.replaceAll("http://127.0.0.1:9347", storing.url))).toContain("Ada");
  } finally {
    await storing.stop();
  }
  const { model_provider: provider, model_providers: providers } = Bun.TOML.parse(
    blockOf("src/config/README.md", "toml"),
  ) as { model_provider: string; model_providers: Record<string, { base_url: string; wire_api: string }> };
  expect(providers[provider]).toMatchObject({ base_url: "http://127.0.0.1:9347/v1", wire_api: "responses" });
});

test("a recorded test with another prompt fails with the difference", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-readme-"));
  try {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const file = join(folder, "hello.test.ts");
    const text = blockOf("README.md", "ts", "bun:test");
    writeFileSync(file, text);
    const commands = blockOf("README.md", "sh", "record hello.tape").trim().split("\n");
    const run = (command: string) => {
      const [, word = "", tape = "", , , , , ...rest] = command.split(" ");
      return runCommand([word, tape, "--", process.execPath, ...rest], { cwd: folder });
    };
    for (const command of commands) {
      const { code, err } = await run(command);
      expect([command, code, err.includes("1 pass")]).toEqual([command, 0, true]);
    }
    writeFileSync(file, text.replace("Say hello", "Say hello twice"));
    const { code, err } = await run(commands[1]!);
    expect(code).toBe(1);
    expect(err).toContain("-   | Say hello\n+   | Say hello twice");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);

test("the snippet gets a vector for each text", async () => {
  expect(await runSnippet(blockOf("src/embeddings/README.md", "ts", "embeddings.create"))).toBe("2 256\n");
});

test("with the alias for gemini-cli its requests reach the model, with the key from its variable", async () => {
  const { aliases } = Bun.YAML.parse(blockOf("src/config/README.md", "yaml", "gemini-*")) as {
    aliases: object;
  };
  const [variables] = blockOf("src/config/README.md", "sh", "GOOGLE_GEMINI_BASE_URL").split(" gemini");
  const set = Object.fromEntries(variables!.split(" ").map((pair) => pair.split("=") as [string, string]));
  const upstream = startUpstream(
    json({
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "Hi." }],
      stop_reason: "end_turn",
      usage: {},
    }),
  );
  const demo = await startGateway({
    config: { aliases, providers: { anthropic: { baseUrl: upstream.url, apiKey: "sk-none-0123456789" } } },
  });
  try {
    const base = set["GOOGLE_GEMINI_BASE_URL"]!.replace("http://127.0.0.1:9347", demo.url);
    const response = await fetch(`${base}/v1beta/models/gemini-3.5-flash-lite:generateContent`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-goog-api-key": set["GEMINI_API_KEY"]! },
      body: JSON.stringify({ contents: [{ parts: [{ text: "Hello" }] }] }),
    });
    expect(await response.text()).toContain('"Hi."');
    expect(JSON.parse(upstream.requests[0]!.body.toString("utf8"))).toMatchObject({
      model: "claude-opus-5-5",
    });
  } finally {
    await demo.stop();
    upstream.stop();
  }
});

test("the rehearsal gets all its answers from a provider that fails every third time", async () => {
  const snippet = blockOf("plugins/mock/README.md", "ts", "mock/flaky-30");
  const said = await runSnippet(snippet);
  expect(said.trim().split("\n").length).toBe(10);
  expect(said).not.toContain("undefined");
}, 600_000);

test("the table of the mock's models is made from them", async () => {
  const rows = mockModels.map(({ name, example, description }) => [
    `\`mock/${name}\`${example ? ` (\`mock/${example}\`)` : ""}`,
    description,
  ]);
  await checkPart("plugins/mock/README.md", "mock", markdownTable(["model", "what it does"], rows));
});

test("the plugin is the 13-line one, and loads", async () => {
  const plugin = blockOf("README.md", "ts", "definePlugin");
  expect(plugin.trim().split("\n").length).toBeLessThanOrEqual(13);
  const response = await fetch(`${gateway.url}/v1/models/${encodeURIComponent("acme/x")}`);
  expect(((await response.json()) as { owned_by: string }).owned_by).toBe("acme");
});

test("the dead first provider: the second one answers, with the headers that are shown", async () => {
  const document = "src/gateway/README.md";
  const yaml = blockOf(document, "yaml", "routes:");
  const demo = await startGateway({ config: Bun.YAML.parse(yaml) as Record<string, unknown> });
  try {
    const curl = blockOf(document, "sh", "curl -i");
    const command = curl.replaceAll("http://127.0.0.1:9347", demo.url);
    const run = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "ignore" });
    const seen = await new Response(run.stdout).text();
    const shown = blockOf(document, "", "x-weir-tried");
    for (const header of shown.trim().split("\n")) expect(seen.replace(/\d+ms/g, "1ms")).toContain(header);
  } finally {
    await demo.stop();
  }
});

test("the models of the mock that the documents name exist", async () => {
  const names = DOCUMENTS.flatMap((path) =>
    [...readDocument(path).matchAll(/`mock\/([a-z0-9-]+)`/g)].map((match) => match[1]!),
  );
  expect(names.length).toBeGreaterThan(12);
  const { findBehaviour } = await import("../plugins/mock/models.ts");
  for (const name of names) expect(() => findBehaviour(name)).not.toThrow();
});

test("with the config example Claude Code's request reaches the local model", async () => {
  const upstream = startUpstream(({ path }) =>
    path === "/v1/messages"
      ? json(MESSAGE)
      : json({ object: "list", data: [{ id: "qwen3", object: "model" }] }),
  );
  const yaml = blockOf("src/config/README.md", "yaml", "ollama/qwen3").replace(
    "http://127.0.0.1:11434",
    upstream.url,
  );
  const local = await startGateway({ config: Bun.YAML.parse(yaml) as Record<string, unknown> });
  try {
    const response = await fetch(`${local.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({
        model: "claude-sonnet-5",
        max_tokens: 10,
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    expect(await response.json()).toMatchObject({ content: [{ text: "Hello from the local model" }] });
    const sent = upstream.requests.find(({ path }) => path === "/v1/messages")!;
    expect(JSON.parse(sent.body.toString())).toMatchObject({ model: "qwen3" });
  } finally {
    await local.stop();
    upstream.stop();
  }
});

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "qwen3",
  content: [{ type: "text", text: "Hello from the local model" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 5 },
};

test("every plugin that the guide for authors shows loads, and its program answers", async () => {
  const shown = blocksOf("plugins/README.md").filter(({ code }) => code.includes("definePlugin"));
  expect(shown.length).toBeGreaterThan(2);
  const plugins = Object.fromEntries(shown.map(({ code }, index) => [`shown-${index}.ts`, code]));
  const guide = await startGateway({ plugins, env: { ACME_API_KEY: "k" } });
  try {
    const response = await fetch(`${guide.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "counter/x", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "You sent 1 turns." } }] });
  } finally {
    await guide.stop();
  }
  expect(guide.log.filter((line) => / is loaded"/.test(line)).length).toBe(shown.length);
  expect(guide.log.join("\n")).not.toContain("plugin not loaded");
});

test("the config of the response cache answers the second call from memory", async () => {
  const yaml = blockOf("plugins/README.md", "yaml", "cache:");
  const key = "ci-key-1234567890abcdef";
  const config = Bun.YAML.parse(yaml) as Record<string, unknown>;
  const cached = await startGateway({ config, env: { CI_KEY: key } });
  const told = async (path: string, headers: Record<string, string>) => {
    const { headers: answer } = await fetch(cached.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify({
        ...{ model: "mock/chat", temperature: 0, max_tokens: 50 },
        messages: [{ role: "user", content: "Hello" }],
      }),
    });
    return [answer.get("x-weir-cache"), answer.get("x-weir-provider")];
  };
  try {
    const use = { "x-weir-cache": "use" };
    expect(await told("/v1/chat/completions", {})).toEqual([null, "mock"]);
    expect(await told("/v1/chat/completions", use)).toEqual(["miss", "mock"]);
    expect(await told("/v1/chat/completions", use)).toEqual(["hit", "response-cache"]);
    expect(await told("/v1/messages", use)).toEqual(["hit", "response-cache"]);
  } finally {
    await cached.stop();
  }
});

test("the plugins of the guide reach their hosts: endpoint, authorization and framing", async () => {
  const [regional, authorized, lines] = ["regional", "authorized", "lines"].map((name) =>
    blockOf("plugins/README.md", "ts", `name: "${name}"`),
  );
  const chunk = {
    id: "c",
    model: "m",
    choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
  };
  const upstream = startUpstream((request) => {
    if (request.path === "/token") return json({ access_token: "token-0123456789", expires_in: 600 });
    if (request.path !== "/chat/completions") return json({ type: "error", error: { message: "no" } }, 400);
    const body = `${JSON.stringify(chunk)}\n[DONE]\n`;
    return { headers: { "content-type": "application/jsonl" }, body };
  });
  const at = (code: string) =>
    code.replaceAll(/https:\/\/[\w.{}]+\.example\.com|http:\/\/127\.0\.0\.1:8080/g, upstream.url);
  const started = await startGateway({
    plugins: { "regional.ts": regional!, "authorized.ts": at(authorized!), "lines.ts": at(lines!) },
    env: {
      ...{ REGIONAL_REGION: "eu-1", EXAMPLE_KEY: "k-0123456789", TOKENS_SECRET: "s-0123456789" },
      ...{ AWS_REGION: "eu-1", SIGNED_ID: "AKID", SIGNED_SECRET: "a-0123456789" },
    },
  });
  const ask = async (path: string, model: string, stream = false) => {
    const body = { model, stream, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
    const response = await fetch(started.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.text();
  };
  try {
    const { request } = JSON.parse(
      await ask("/v1/explain?format=chat-completions", "regional/a:b", true),
    ) as {
      request: { url: string; headers: Record<string, string>; body: object };
    };
    expect(request.url).toBe("https://eu-1.example.com/models/a%3Ab:stream?version=2026-01");
    expect(request.headers["authorization"]).toBe("Bearer $EXAMPLE_KEY");
    expect(request.body).not.toHaveProperty("model");
    await ask("/v1/messages", "tokens/m");
    expect(upstream.requests.at(-1)!.headers.get("authorization")).toBe("Bearer token-0123456789");
    await ask("/v1/messages", "signed/m");
    expect(upstream.requests.at(-1)!.headers.get("authorization")).toStartWith(
      "AWS4-HMAC-SHA256 Credential=AKID/",
    );
    expect(await ask("/v1/chat/completions", "lines/m", true)).toBe(
      `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
    );
  } finally {
    await started.stop();
    upstream.stop();
  }
});

test("the systemd unit stops, restarts and reloads as weir does, and is locked down", () => {
  const unit = blockOf("src/cli/README.md", "ini");
  for (const line of [
    // Workers are stopped by their supervisor.
    "KillMode=mixed",
    // The exit code of a config that is wrong.
    "RestartPreventExitStatus=78",
    "ExecReload=/usr/local/bin/weir reload",
    // Where `weir reload` finds the gateway, whose /tmp is its own.
    "RuntimeDirectory=weir",
    // Where the books and stored answers are.
    "StateDirectory=weir",
    "PrivateTmp=yes",
  ])
    expect(unit).toContain(`\n${line}\n`);
  // JavaScript is compiled while it runs.
  expect(unit).not.toContain("MemoryDenyWriteExecute");
  if (!Bun.which("systemd-analyze")) return;
  const folder = mkdtempSync(join(tmpdir(), "weir-unit-"));
  try {
    const file = join(folder, "weir.service");
    writeFileSync(file, unit.replaceAll("/usr/local/bin/weir", process.execPath));
    const verified = Bun.spawnSync(["systemd-analyze", "verify", file]);
    expect(verified.stderr.toString()).not.toContain("weir.service");
    const judged = Bun.spawnSync(["systemd-analyze", "security", "--offline=true", "--threshold=20", file]);
    expect(judged.exitCode).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 600_000);

test("the table of options is made from the schema", async () => {
  const rows = OPTIONS.list.map(({ path, schema }) => {
    const places = [schema["x-flag"], schema["x-env"]].filter(Boolean).map((word) => `\`${word}\``);
    const fallback = schema["default"] === undefined ? "" : `\`${JSON.stringify(schema["default"])}\``;
    return [`\`${path.join(".")}\``, places.join(" "), fallback, schema.description ?? ""];
  });
  const head = ["option", "flag, variable", "default", "meaning"];
  await checkPart("src/config/README.md", "options", markdownTable(head, rows));
});

test("the table of traits is made from the schema", async () => {
  const rows = Object.entries(traitsSchema.properties).map(([name, schema]) => {
    const words = ((schema as TSchema)["anyOf"] as { const: string }[] | undefined)?.map(
      ({ const: word }) => `\`${word}\``,
    );
    return [`\`${name}\``, words?.join(" ") ?? String((schema as TSchema)["type"]), schema.description ?? ""];
  });
  await checkPart("src/config/README.md", "traits", markdownTable(["trait", "value", "meaning"], rows));
});

test("the table of metrics is made from their list", async () => {
  const families = [...FAMILIES, ...FEATURES.flatMap(({ metrics = [] }) => metrics)];
  const rows = families.map(({ name, type, labels, help }) => {
    return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(" "), help];
  });
  const head = ["metric", "type", "labels", "meaning"];
  await checkPart("src/admin/README.md", "metrics", markdownTable(head, rows));
});

test("the table of commands is made from the command line", async () => {
  const rows = COMMANDS.map((command) => {
    const flags = command.flags.map(({ name, value }) => `\`${[name, value].filter(Boolean).join(" ")}\``);
    return [`\`weir ${synopsis(command)}\``, command.summary, flags.join(" ")];
  });
  const head = ["command", "what it does", "flags"];
  await checkPart("src/cli/README.md", "commands", markdownTable(head, rows));
});

test("the tables of what the formats carry are made by asking the code", async () => {
  await checkPart("src/formats/README.md", "matrix", await makeMatrix());
  await checkPart("src/formats/README.md", "silent", makeSilentTable());
});

test("the table of providers is made from the plugins", async () => {
  const providers = builtIn.flatMap((plugin) => plugin.providers ?? []).filter(({ speaks }) => speaks);
  const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(" ");
  const rows = providers.map((provider) => {
    const { name, models = [], speaks, variables = {} } = provider;
    const bare = models.filter((pattern) => pattern !== `${name}/*`);
    const more = Object.values(variables).flatMap(({ env }) => env?.slice(0, 1) ?? []);
    const own = [...credentialNames(provider), ...(provider.host ? [provider.host.variable] : []), ...more];
    return [code([name]), code(Object.keys(speaks!)), code(bare), code([...new Set(own)])];
  });
  const head = ["provider", "formats", "model names without `NAME/`", "variables besides `NAME_BASE_URL`"];
  await checkPart("plugins/README.md", "providers", markdownTable(head, rows));
});

test("the table of goals under faults is made from the suite", async () => {
  const goals = await listGoals();
  const rows = goals.map(({ goal, what, threshold }) => [String(goal), what, threshold]);
  await checkPart("test/faults/README.md", "goals", markdownTable(["goal", "situation", "promise"], rows));
}, 900_000);

test("the tables of finish reasons and errors are made by asking the codecs", async () => {
  const path = "src/formats/README.md";
  await checkPart(path, "finish", finishTable());
  await checkPart(path, "errors", errorTable());
});

test("weir explain takes the request that the documents show", async () => {
  const program = `"${process.execPath}" "${ROOT}/src/main.ts"`;
  const command = blockOf("src/cli/README.md", "sh", "weir explain").replace(
    "weir explain",
    `ANTHROPIC_API_KEY=k ${program} explain`,
  );
  const run = Bun.spawn(["sh", "-c", command], {
    env: environmentIn(gateway.folder),
    cwd: gateway.folder,
    stdout: "pipe",
  });
  const { losses } = JSON.parse(await new Response(run.stdout).text()) as { losses: unknown };
  expect(losses).toMatchObject([{ code: "dropped", path: "temperature" }]);
});

/** The variables of a provider's credentials; the optional key of a local server is `NAME_API_KEY`. */
function credentialNames({ name, apiKey, credentials = [] }: Provider): string[] {
  const listed = credentials.filter(isVariableList).flat();
  return listed.length > 0 ? listed : [apiKey ?? variableName(name, "API_KEY")];
}
