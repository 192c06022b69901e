/**
 * Real clients, run headless against the gateway, where they are installed: `WEIR_CLIENTS` names a folder in which
 * `npm install @anthropic-ai/claude-code` was run. Without it this says so and skips.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

const CLIENTS = process.env["WEIR_CLIENTS"] ?? "";
const CLAUDE = join(CLIENTS, "node_modules/.bin/claude");
const haveClaude = CLIENTS !== "" && existsSync(CLAUDE);

if (!haveClaude) console.log("WEIR_CLIENTS names no folder with Claude Code installed: it is not run.");

let gateway: RunningGateway;
let upstream: Upstream;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "weir-client-"));
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    config: {
      ...upstreamConfig({ openai: upstream.url }),
      aliases: { "my-claude-mock": "mock/chat", "my-claude-on-chat": "openai/gpt-4.1" },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
  rmSync(home, { recursive: true, force: true });
});

async function runClaude(
  model: string,
  prompt: string,
  more: string[] = [],
): Promise<{ code: number; out: string }> {
  const child = Bun.spawn([CLAUDE, "-p", prompt, ...more], {
    cwd: home,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_API_KEY: "unused",
      ANTHROPIC_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const killer = setTimeout(() => child.kill(), 50_000);
  const out = await new Response(child.stdout).text();
  clearTimeout(killer);
  return { code: await child.exited, out };
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

describe.skipIf(!haveClaude)("Claude Code", () => {
  test("talks to the mock", async () => {
    const { code, out } = await runClaude("my-claude-mock", "Say hello");
    expect([code, out]).toEqual([0, expect.stringContaining("mock")]);
  }, 600_000);

  test("runs a tool it was told to by a chat-completions upstream, and gives the result back", async () => {
    upstream.answer((request) => {
      const asked = request.body.toString("utf8");
      if (asked.includes('"role":"tool"'))
        return sse([
          chunk({ role: "assistant", content: "The tool said: " }),
          chunk({ content: "weir-marker-42" }),
          chunk({}, "stop"),
          "data: [DONE]\n\n",
        ]);
      const call = {
        index: 0,
        id: "call_1",
        type: "function",
        function: {
          name: "Bash",
          arguments: JSON.stringify({ command: "echo weir-marker-42", description: "echo" }),
        },
      };
      return sse([
        chunk({ role: "assistant", content: null }),
        chunk({ tool_calls: [call] }),
        chunk({}, "tool_calls"),
        "data: [DONE]\n\n",
      ]);
    });
    const { code, out } = await runClaude("my-claude-on-chat", "Run the echo command", [
      "--allowedTools",
      "Bash",
    ]);
    expect([code, out]).toEqual([0, expect.stringContaining("weir-marker-42")]);
    const last = upstream.requests
      .map((request) => request.body.toString("utf8"))
      .find((body) => body.includes('"role":"tool"'));
    expect(last).toContain("weir-marker-42");
  }, 600_000);
});
