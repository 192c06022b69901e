/** Imported configs over real sockets: calls reach the host that the source named, with its path, model and credential. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";
import { answering, failing, makeStage } from "../helpers/places.ts";
import type { Upstream } from "../helpers/upstream.ts";
import type { RunningGateway } from "../helpers/gateway.ts";

// Each import is a process of its own.
setDefaultTimeout(120_000);

const stage = makeStage();
const { upstream } = stage;

/** Starts a gateway with what `weir import` writes for a config. */
async function imported(
  source: string,
  text: string,
  { env = {}, keys }: { env?: Record<string, string>; keys?: unknown } = {},
): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), "weir-import-wire-"));
  try {
    writeFileSync(join(folder, "source.json"), text);
    writeFileSync(join(folder, "keys.json"), JSON.stringify(keys ?? {}));
    const more = keys === undefined ? [] : ["--keys", "keys.json"];
    const args = ["import", source, "source.json", "--out", "weir.yaml", "--env", "secrets", ...more];
    const { code, err } = await runCommand(args, { cwd: folder });
    if (code !== 0) throw new Error(err);
    const config = Bun.YAML.parse(readFileSync(join(folder, "weir.yaml"), "utf8")) as Record<string, unknown>;
    return await stage.gateway(config, { env: { ...secretsIn(join(folder, "secrets")), ...env } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The lines `NAME='value'` of a file. */
function secretsIn(file: string): Record<string, string> {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return Object.fromEntries(lines.map((line) => /^(\w+)='(.*)'$/.exec(line)!.slice(1) as [string, string]));
}

function ask({ url }: RunningGateway, model: string, key = "none"): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      max_tokens: 50,
      messages: [{ role: "user", content: crypto.randomUUID() }],
    }),
  });
}

/** The calls, without the requests for model lists. */
const callsOf = ({ requests }: Upstream) => requests.filter(({ method }) => method === "POST");

const modelOf = (body: Buffer) => (JSON.parse(body.toString()) as { model: string }).model;

test("LiteLLM: a call has the path, the model and the credential of its deployment, and a fallback answers after a 500", async () => {
  const first = upstream(() => failing(500));
  const second = upstream(answering);
  const gateway = await imported(
    "litellm",
    JSON.stringify({
      model_list: [
        {
          model_name: "main",
          litellm_params: { model: "openai/big", api_base: `${first.url}/v1`, api_key: "sk-first-literal" },
        },
        {
          model_name: "spare",
          litellm_params: {
            model: "azure/prod-4o",
            api_base: second.url,
            api_key: "os.environ/AZURE_KEY",
            api_version: "2024-10-21",
          },
        },
      ],
      router_settings: { num_retries: 0, fallbacks: [{ main: ["spare"] }] },
    }),
    { env: { AZURE_KEY: "azure-secret" } },
  );
  const answer = await ask(gateway, "main");
  expect([answer.status, answer.headers.get("x-weir-provider")]).toEqual([200, "azure-dated"]);
  expect(callsOf(first)[0]).toMatchObject({ path: "/v1/chat/completions" });
  expect(callsOf(first)[0]!.headers.get("authorization")).toBe("Bearer sk-first-literal");
  expect(modelOf(callsOf(first)[0]!.body)).toBe("big");
  expect(callsOf(second)[0]!.path).toBe(
    "/openai/deployments/prod-4o/chat/completions?api-version=2024-10-21",
  );
  expect(callsOf(second)[0]!.headers.get("api-key")).toBe("azure-secret");
});

test("LiteLLM: a key of its database is let in by its digest, until its budget is spent", async () => {
  const host = upstream(answering);
  const gateway = await imported(
    "litellm",
    JSON.stringify({
      model_list: [
        {
          model_name: "chat",
          litellm_params: { model: "openai/some", api_base: `${host.url}/v1`, api_key: "sk-host" },
          model_info: { input_cost_per_token: 0.01, output_cost_per_token: 0.01 },
        },
      ],
    }),
    {
      keys: {
        keys: [
          {
            token: new Bun.CryptoHasher("sha256").update("sk-alice").digest("hex"),
            key_alias: "alice",
            max_budget: 0.02,
            models: [],
          },
        ],
      },
    },
  );
  expect((await ask(gateway, "chat", "sk-mallory")).status).toBe(401);
  expect((await ask(gateway, "chat", "sk-alice")).status).toBe(200);
  const refused = await ask(gateway, "chat", "sk-alice");
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain("insufficient_quota");
  expect(callsOf(host).length).toBe(1);
});

test("Bifrost: a key gets calls for its models alone, with its credential", async () => {
  const hosts = [upstream(answering), upstream(answering)];
  const gateway = await imported(
    "bifrost",
    JSON.stringify({
      providers: {
        vllm: {
          keys: hosts.map(({ url }, index) => ({
            name: `box-${index}`,
            value: `env.KEY_${index}`,
            models: [`model-${index}`],
            weight: 1,
            vllm_key_config: { url, model_name: `model-${index}` },
          })),
        },
      },
    }),
    { env: { KEY_0: "key-zero", KEY_1: "key-one" } },
  );
  for (let round = 0; round < 4; round++) {
    expect((await ask(gateway, "vllm/model-1")).status).toBe(200);
    expect((await ask(gateway, "vllm/model-0")).status).toBe(200);
  }
  const seen = (index: number) => [...new Set(callsOf(hosts[index]!).map(({ body }) => modelOf(body)))];
  expect([seen(0), seen(1)]).toEqual([["model-0"], ["model-1"]]);
  expect(callsOf(hosts[1]!)[0]!.headers.get("authorization")).toBe("Bearer key-one");
});

test("claude-code-router: whatever Claude Code asks for goes to the default, its small model to the background", async () => {
  const [host, small] = [upstream(answering), upstream(answering)];
  const provider = (name: string, url: string) => ({
    name,
    api_base_url: `${url}/v1/chat/completions`,
    api_key: `key-of-${name}`,
    models: ["m"],
  });
  const gateway = await imported(
    "ccr",
    `// comments are allowed\n${JSON.stringify({
      APIKEY: "client-secret",
      Providers: [provider("large", host.url), provider("small", small.url)],
      Router: { default: "large,m", background: "small,m" },
    })}`,
  );
  const claude = (model: string, key: string) =>
    fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify({ model, max_tokens: 50, messages: [{ role: "user", content: "hi" }] }),
    });
  expect((await claude("claude-opus-5-5", "wrong")).status).toBe(401);
  expect((await claude("claude-opus-5-5", "client-secret")).status).toBe(200);
  expect((await claude("claude-haiku-4-5", "client-secret")).status).toBe(200);
  expect([callsOf(host).length, callsOf(small).length]).toEqual([1, 1]);
  expect(callsOf(small)[0]!.headers.get("authorization")).toBe("Bearer key-of-small");
});

test("Portkey: the targets of a fallback are tried in their order, each with its model", async () => {
  const [first, second] = [upstream(() => failing(503)), upstream(answering)];
  const target = (url: string, model: string) => ({
    provider: "openai",
    custom_host: `${url}/v1`,
    api_key: `key-of-${model}`,
    override_params: { model },
  });
  const gateway = await imported(
    "portkey",
    JSON.stringify({
      strategy: { mode: "fallback" },
      targets: [target(first.url, "one"), target(second.url, "two")],
    }),
  );
  expect((await ask(gateway, "gpt-anything")).status).toBe(200);
  expect([modelOf(callsOf(first)[0]!.body), modelOf(callsOf(second)[0]!.body)]).toEqual(["one", "two"]);
  expect(callsOf(second)[0]!.headers.get("authorization")).toBe("Bearer key-of-two");
});
