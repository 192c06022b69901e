/** Models that hosts list themselves, and aliases by pattern. */
import { afterEach, expect, test } from "bun:test";
import { resolve } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { json, silence, startUpstream, type Upstream } from "../helpers/upstream.ts";

const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** A host that has these models and says in its answers who it is. */
function host(name: string, models: () => string[]): Upstream {
  const upstream = startUpstream((request) => {
    if (request.path === "/v1/models") return json({ object: "list", data: models().map((id) => ({ id })) });
    const { model } = JSON.parse(request.body.toString()) as { model: string };
    const message = { role: "assistant", content: `${name} ${model}` };
    return json({ id: "c", model, choices: [{ index: 0, message, finish_reason: "stop" }] });
  });
  stops.push(() => upstream.stop());
  return upstream;
}

async function start(config: Record<string, unknown>): Promise<RunningGateway> {
  const gateway = await startGateway({ config });
  stops.push(() => gateway.stop());
  return gateway;
}

const at = ({ url }: Upstream) => ({ baseUrl: `${url}/v1` });

async function ask(gateway: RunningGateway, model: string): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  const body = (await response.json()) as { choices?: { message: { content: string } }[] };
  return body.choices?.[0]?.message.content ?? `status ${response.status}`;
}

async function listed(gateway: RunningGateway): Promise<string[]> {
  const { data } = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id).filter((id) => !id.startsWith("mock/"));
}

test("a local host's models are listed and served by their bare names", async () => {
  const ollama = host("ollama", () => ["qwen3:8b", "gpt-oss:20b"]);
  const gateway = await start({ providers: { ollama: at(ollama) } });
  expect(await listed(gateway)).toEqual(["qwen3:8b", "gpt-oss:20b"]);
  expect(await ask(gateway, "qwen3:8b")).toBe("ollama qwen3:8b");
  expect(await ask(gateway, "ollama/anything")).toBe("ollama anything");
  expect(await ask(gateway, "unknown")).toBe("status 404");
}, 600_000);

test("the first call with a bare name waits for the list", async () => {
  const vllm = host("vllm", () => ["qwen3"]);
  const gateway = await start({ providers: { vllm: at(vllm) } });
  expect(await ask(gateway, "qwen3")).toBe("vllm qwen3");
}, 600_000);

test("a name that two hosts have goes to the first of the config, and patterns come before lists", async () => {
  const [vllm, ollama, openai] = [
    host("vllm", () => ["both", "gpt-9"]),
    host("ollama", () => ["both"]),
    host("openai", () => []),
  ];
  const gateway = await start({
    providers: { vllm: at(vllm), ollama: at(ollama), openai: { ...at(openai), apiKey: "unused" } },
  });
  expect(await ask(gateway, "both")).toBe("vllm both");
  expect(await ask(gateway, "gpt-9")).toBe("openai gpt-9");
  const other = await start({ providers: { ollama: at(ollama), vllm: at(vllm) } });
  expect(await ask(other, "both")).toBe("ollama both");
  expect((await listed(other)).toSorted()).toEqual(["both", "gpt-9", "vllm/both"]);
  const main = resolve(import.meta.dir, "../../src/main.ts");
  const run = Bun.spawn([process.execPath, main, "models", "both"], {
    cwd: other.folder,
    env: environmentIn(other.folder),
    stdout: "pipe",
  });
  expect(await new Response(run.stdout).text()).toMatch(
    /ollama\/both[^]*matching providers[^]*ollama\/both[^]*vllm\/both/,
  );
}, 600_000);

test("a host that never answers costs an unknown name a second once, and then nothing for a while", async () => {
  const stuck = startUpstream(() => silence());
  stops.push(() => stuck.stop());
  const gateway = await start({ providers: { vllm: at(stuck) } });
  const began = performance.now();
  expect(await ask(gateway, "qwen3")).toBe("status 404");
  expect(performance.now() - began).toBeLessThan(10_000);
  const dead = await start({ providers: { vllm: { baseUrl: "http://127.0.0.1:1/v1" } } });
  for (let n = 0; n < 20; n++) expect(await ask(dead, "qwen3")).toBe("status 404");
}, 600_000);

test("an alias pattern wins over provider patterns and loses to exact aliases, routes and provider/model", async () => {
  const [vllm, anthropic] = [host("vllm", () => []), host("anthropic", () => [])];
  const gateway = await start({
    providers: { vllm: at(vllm), openai: { ...at(anthropic), apiKey: "unused", models: ["claude-*"] } },
    aliases: { "claude-*": "vllm/qwen3", "claude-haiku*": "vllm/small", "claude-exact": "vllm/exact" },
    routes: { "claude-route": ["vllm/routed"] },
  });
  expect(await ask(gateway, "claude-opus-5-5")).toBe("vllm qwen3");
  expect(await ask(gateway, "claude-haiku-4-5")).toBe("vllm small");
  expect(await ask(gateway, "claude-exact")).toBe("vllm exact");
  expect(await ask(gateway, "claude-route")).toBe("vllm routed");
  expect(await ask(gateway, "openai/claude-opus-5-5")).toBe("anthropic claude-opus-5-5");
  expect(await listed(gateway)).not.toContain("claude-*");
}, 600_000);
