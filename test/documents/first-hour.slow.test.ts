/**
 * The blocks of README.md as a newcomer pastes them, from the first to the last, in an empty home and an empty folder: from
 * source, and with `WEIR_TARGET=binary` with the executable.
 */
import { afterAll, expect, test } from "bun:test";
import { blockOf, blocksOf } from "../helpers/documents.ts";
import { until } from "../helpers/serving.ts";
import { type Background, Newcomer } from "./newcomer.ts";

const README = "README.md";
const LONG_MS = 600_000;

const newcomer = new Newcomer();
afterAll(() => newcomer.leave());

/** Blocks that a test has pasted. */
const pasted = new Set<string>();

function block(language: string, holding: string): string {
  const code = blockOf(README, language, holding);
  pasted.add(code);
  return code;
}

let gateway: Background;

const ask = (key: string, model = "mock/chat") =>
  fetch(`http://127.0.0.1:${newcomer.port}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });

test(
  "the first command starts a gateway, and prints the address of its console",
  async () => {
    gateway = newcomer.start(block("sh", "run start"));
    const shown = await gateway.shows("  try: ");
    expect(shown).toMatch(/console http:\/\/127\.0\.0\.1:\d+\/console; weir console prints a link/);
    expect(shown.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(6);
  },
  LONG_MS,
);

test(
  "the mock answers curl and the SDKs, and setup brings the command",
  async () => {
    const { shown } = await newcomer.paste(block("sh", "curl -N"));
    expect(shown).toContain("data: [DONE]\n");
    expect((await newcomer.paste(block("sh", "run setup"))).code).toBe(0);
    newcomer.installSdks();
    for (const call of ["chat.completions", "messages.create"]) {
      newcomer.write("hello.ts", block("ts", call));
      expect(await newcomer.paste("npx -y bun@1.4.5 hello.ts")).toEqual({
        code: 0,
        shown: expect.stringContaining("Hello") as string,
      });
    }
  },
  LONG_MS,
);

test(
  "a client runs through weir, and meets the faults of the drill",
  async () => {
    const ran = await newcomer.paste(`${block("sh", "weir exec").trimEnd()} "Say hello"`);
    expect([ran.code, ran.shown]).toEqual([0, expect.stringContaining("Say hello")]);
    const drilled = await newcomer.paste(block("sh", "weir drill"));
    // This client repeats nothing and reports what failed: some verdicts are good and none is about weir.
    expect(drilled.shown).toMatch(/\d+ ok/);
  },
  LONG_MS,
);

test(
  "a test is recorded and runs from the tape",
  async () => {
    newcomer.write("hello.test.ts", block("ts", "bun:test"));
    for (const line of block("sh", "weir record").trim().split("\n")) {
      const { code, shown } = await newcomer.paste(line);
      expect([code, shown]).toEqual([0, expect.stringContaining("1 pass")]);
    }
  },
  LONG_MS,
);

test(
  "the key has a dollar, and the fifth call is refused",
  async () => {
    const { code, shown } = await newcomer.paste(block("sh", "weir keys create demo"));
    expect([code, shown]).toEqual([0, expect.stringContaining("The books hold.")]);
    expect(shown.match(/"completion_tokens":100000/g)?.length).toBe(4);
    expect(shown.match(/"code":"insufficient_quota"/g)?.length).toBe(1);
    expect((await ask("none")).status).toBe(401);
    await gateway.stop();
  },
  LONG_MS,
);

test("a placeholder for a key is refused with a sentence", async () => {
  const { code, shown } = await newcomer.paste(block("sh", "OPENAI_API_KEY=…"));
  expect([code, shown]).toEqual([78, expect.stringContaining("OPENAI_API_KEY")]);
}, 60_000);

test(
  "the config, the provider and the plugin load",
  async () => {
    newcomer.set("ALICE_KEY", "key-of-alice-0123456789");
    newcomer.set("MY_OPENAI_KEY", "sk-something-long-0123456789");
    newcomer.set("ACME_KEY", "acme-0123456789");
    newcomer.set("ACME_API_KEY", "acme-0123456789");
    newcomer.write("weir.yaml", block("yaml", "port: 9347"));
    for (const more of ["", block("yaml", "acme:")]) {
      if (more !== "") newcomer.write("weir.yaml", more);
      const { code, shown } = await newcomer.paste("weir check --offline");
      expect([code, shown]).toEqual([0, expect.stringContaining(more === "" ? "openai" : "acme")]);
    }
    newcomer.write("weir.yaml", block("yaml", "port: 9347"));
    newcomer.write("plugins/acme.ts", block("ts", "definePlugin"));
    expect((await newcomer.paste("weir models acme/x")).shown).toContain("https://api.acme.example/v1");
  },
  LONG_MS,
);

test(
  "a server of tools is behind the address that Claude Code gets",
  async () => {
    const said = "mcp-client says it is github";
    const server = Bun.serve({
      port: 0,
      async fetch(request) {
        const { id, method } = (await request.json()) as { id: number; method: string };
        if (request.headers.get("authorization") !== "Bearer ghp_0123456789" || method !== "server/discover")
          return new Response(null, { status: 404 });
        const info = { "io.modelcontextprotocol/serverInfo": { name: said, version: "1" } };
        const result = {
          resultType: "complete",
          supportedVersions: ["2026-07-28"],
          capabilities: {},
          _meta: info,
        };
        return Response.json({ jsonrpc: "2.0", id, result });
      },
    });
    newcomer.set("GITHUB_TOKEN", "ghp_0123456789");
    const url = `http://127.0.0.1:${server.port}/mcp`;
    newcomer.write("weir.yaml", block("yaml", "tools:").replace("https://api.githubcopilot.com/mcp/", url));
    // What the client does first with a server that it was given.
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    const begin = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const types = `-H "content-type: application/json" -H "accept: application/json, text/event-stream"`;
    newcomer.program("claude", [
      `[ "$1 $2 $3 $4 $5" = "mcp add --transport http github" ] || exit 1`,
      `exec curl -s -H "authorization: Bearer $TOOLS_KEY" ${types} -d '${begin}' "$6"`,
    ]);
    const serving = newcomer.start("weir");
    await serving.shows("  try: ");
    // The key with a dollar has closed the gateway.
    const [key = ""] = /weir_sk_\S+/.exec((await newcomer.paste("weir keys create tools")).shown) ?? [];
    newcomer.set("TOOLS_KEY", key);
    expect(await newcomer.paste(block("sh", "claude mcp add"))).toEqual({
      ...{ code: 0, shown: expect.stringContaining(said) as string },
    });
    await serving.stop();
    await server.stop(true);
  },
  LONG_MS,
);

test(
  "the command for a server prints the key of its clients",
  async () => {
    newcomer.write("weir.yaml", "aliases: { hello: mock/chat }");
    const server = newcomer.start(block("sh", "WEIR_API_KEYS"));
    const shown = await server.shows("  try: ");
    const [, key] = /^app:([0-9a-f]{48})$/m.exec(shown)!;
    expect(await until(async () => (await ask(key!, "hello")).status === 200, 20_000)).toBe(true);
    expect((await ask("wrong", "hello")).status).toBe(401);
    await server.stop();
  },
  LONG_MS,
);

test("every block of the README was pasted, but the commands that build and test weir itself", () => {
  const rest = blocksOf(README).filter(({ code }) => !pasted.has(code));
  expect(rest.map(({ code }) => code.trim())).toEqual([
    "npx -y bun@1.4.5 run build",
    "npx -y bun@1.4.5 run check\nnpx -y bun@1.4.5 run test",
  ]);
});
