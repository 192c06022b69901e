/** Programs behind a gateway: their environment, what they cost, and how they end with it. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { serve, until } from "../../../../../test/helpers/serving.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { fake, membersOf } from "./place.ts";

setDefaultTimeout(120_000);

const SECRETS = { OPENAI_API_KEY: "sk-planted-1", ANTHROPIC_API_KEY: "sk-planted-2", WEIR_PLANTED: "3" };

async function open(servers: JsonObject, workers = 1) {
  const config = JSON.stringify({ log: { format: "json" }, tools: { servers } });
  const gateway = await serve({ workers, config, env: SECRETS });
  const call = async (server: string, name: string, given: JsonObject = {}): Promise<string> => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "probe", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const answer = await fetch(`${gateway.url}/mcp/${server}`, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...{ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name },
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given, _meta } },
      }),
    });
    const text = await answer.text();
    const { result, error } = JSON.parse(text) as {
      result?: { content: { text: string }[] };
      error?: object;
    };
    return result?.content[0]?.text ?? JSON.stringify(error);
  };
  return { gateway, call };
}

const server = (...args: string[]) => ({ command: fake(...args), allow: ["*"] });

const parentOf = (pid: number) => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))![1]);

/** Processes of these tests that have not ended. */
const fakes = () =>
  readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("marked-by-a-test");
    } catch {
      return false;
    }
  });

test("a program has no variable of weir, and starts with its first use", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`s${at}`, server("modern", "marked-by-a-test")]),
  );
  const { gateway, call } = await open({
    ...many,
    mine: { ...server("marked-by-a-test"), env: { MINE: "own" } },
  });
  try {
    expect(fakes()).toEqual([]);
    const env = JSON.parse(await call("mine", "env")) as Record<string, string>;
    expect(Object.keys(env).filter((name) => !["PATH", "LANG", "TZ"].includes(name))).toEqual(["MINE"]);
    expect(env["MINE"]).toBe("own");
    expect(fakes()).toHaveLength(1);
    // Calls that come while it starts wait for the same start.
    const pids = await Promise.all(Array.from({ length: 20 }, () => call("s7", "pid")));
    expect(new Set(pids).size).toBe(1);
    expect(fakes()).toHaveLength(2);
  } finally {
    gateway.signal("SIGTERM");
    expect(await gateway.exited).toBe(0);
    await gateway.end();
  }
  expect(fakes()).toEqual([]);
});

test.each(["the process of the tools", "the gateway"])(
  "nothing of a program is left when %s is killed",
  async (whom) => {
    const { gateway, call } = await open({ fake: server() }, 2);
    try {
      const program = Number(await call("fake", "pid"));
      expect(JSON.parse(await call("fake", "fork"))).toHaveLength(3);
      expect(membersOf(program).length).toBeGreaterThan(3);
      const process_ = parentOf(program);
      process.kill(whom === "the gateway" ? gateway.pid : process_, "SIGKILL");
      expect(await until(() => membersOf(program).length === 0, 5000)).toBe(true);
      if (whom === "the gateway") return;
      // The next process starts the program anew.
      const next = Number(await call("fake", "pid"));
      expect(next).not.toBe(program);
      expect(parentOf(next)).not.toBe(process_);
    } finally {
      await gateway.end();
    }
  },
);
