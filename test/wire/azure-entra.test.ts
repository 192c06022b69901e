/** Azure with tokens of Microsoft Entra instead of a key, and with several resources. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explain } from "../helpers/explained.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const SECRET = "entra-secret-canary-0123456789";
const tokenOf = (number: number) => `entra-token-canary-${number}-0123456789`;
const hi = [{ role: "user" as const, content: "hi" }];

const RESPONSE = {
  ...{
    id: "resp_azure_1",
    object: "response",
    created_at: 1,
    model: "gpt-5",
    status: "completed",
    store: true,
  },
  output: [
    {
      ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: "hello", annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};

let host: Upstream;
let login: Upstream;
let gateway: RunningGateway;
/** The number of the token that the host accepts. */
let valid: number;
let issued: number;

beforeEach(() => {
  valid = 1;
  issued = 0;
  host = startUpstream(({ headers }) =>
    headers.get("authorization") === `Bearer ${tokenOf(valid)}`
      ? json(RESPONSE)
      : json(
          { error: { code: "401", message: "Unauthorized. Access token is missing, invalid or expired." } },
          401,
        ),
  );
  login = startUpstream(async () => {
    const token = tokenOf(++issued);
    await Bun.sleep(20);
    return json({ token_type: "Bearer", expires_in: 3599, access_token: token });
  });
});

afterEach(async () => {
  await gateway.stop();
  host.stop();
  login.stop();
});

const client = () => ({
  AZURE_OPENAI_ENDPOINT: host.url,
  AZURE_AUTHORITY_HOST: login.url,
  AZURE_TENANT_ID: "tenant",
  AZURE_CLIENT_ID: "client",
});

const ask = () =>
  openaiClient(gateway.url)
    .responses.create({ model: "azure/gpt-5", input: "hi" })
    .then(({ output_text }) => output_text);

test("calls share one token, which is fetched when they come, and again when Azure refuses it", async () => {
  gateway = await startGateway({ env: { ...client(), AZURE_CLIENT_SECRET: SECRET } });
  expect(login.requests.length).toBe(0);
  expect(new Set(await Promise.all(Array.from({ length: 20 }, ask)))).toEqual(new Set(["hello"]));
  expect(issued).toBe(1);
  expect(host.requests[0]!.headers.get("api-key")).toBeNull();
  expect(login.requests[0]!.path).toBe("/tenant/oauth2/v2.0/token");
  const form = new URLSearchParams(login.requests[0]!.body.toString());
  expect(form.get("scope")).toBe("https://cognitiveservices.azure.com/.default");
  valid = 2;
  expect(new Set(await Promise.all(Array.from({ length: 10 }, ask)))).toEqual(new Set(["hello"]));
  expect(issued).toBe(2);
});

test("Foundry takes a token for its own scope, at the paths of Anthropic", async () => {
  const message = {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-x", stop_sequence: null },
    content: [{ type: "text", text: "hello" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  host.answer(() => json(message));
  const env = {
    ...client(),
    AZURE_CLIENT_SECRET: SECRET,
    ANTHROPIC_FOUNDRY_BASE_URL: `${host.url}/anthropic`,
  };
  gateway = await startGateway({ env });
  await anthropicClient(gateway.url).messages.create({
    model: "foundry/claude-x",
    max_tokens: 5,
    messages: hi,
  });
  expect(host.requests[0]!.headers.get("authorization")).toBe(`Bearer ${tokenOf(1)}`);
  expect(host.requests[0]!.headers.get("x-api-key")).toBeNull();
  const form = new URLSearchParams(login.requests[0]!.body.toString());
  expect(form.get("scope")).toBe("https://ai.azure.com/.default");
});

test("the token of a workload comes from its file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-entra-"));
  const file = join(folder, "token");
  writeFileSync(file, "workload-token");
  gateway = await startGateway({ env: { ...client(), AZURE_FEDERATED_TOKEN_FILE: file } });
  expect(await ask()).toBe("hello");
  const form = new URLSearchParams(login.requests[0]!.body.toString());
  expect([form.get("client_assertion"), form.get("client_secret")]).toEqual(["workload-token", null]);
  rmSync(folder, { recursive: true });
});

test("the managed identity is asked only where the config says so", async () => {
  const env = {
    AZURE_OPENAI_ENDPOINT: host.url,
    AZURE_POD_IDENTITY_AUTHORITY_HOST: login.url,
    OPENAI_API_KEY: "k-0123456789",
  };
  gateway = await startGateway({ env });
  const refused = await ask().catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ status: 404 });
  expect(login.requests.length).toBe(0);
  await gateway.stop();
  const config = { providers: { azure: { variables: { identity: "managed" } } } };
  gateway = await startGateway({ env, config });
  expect(await ask()).toBe("hello");
  expect(login.requests[0]!.path).toStartWith("/metadata/identity/oauth2/token?api-version=2018-02-01");
  const seen = await explain(gateway.url, "responses", { model: "azure/gpt-5", input: "hi" });
  expect(seen).toMatchObject({
    sent: { request: { authorized_with: ["the managed identity of this machine"] } },
  });
});

test("neither secret nor token is shown when Entra refuses", async () => {
  const body = {
    error: "invalid_client",
    error_description: `AADSTS7000215: Invalid client secret ${SECRET}.`,
  };
  login.answer(() => json(body, 401));
  gateway = await startGateway({
    env: { ...client(), AZURE_CLIENT_SECRET: SECRET },
    config: { log: { format: "json" } },
  });
  const refused = await ask().catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ status: 502, code: "upstream_authorization" });
  await gateway.stop();
  const log = gateway.log.join("\n");
  expect(log).toContain("AADSTS7000215");
  expect(log + JSON.stringify(refused)).not.toContain(SECRET);
});

test("an answer is continued at the resource that stored it, by its id", async () => {
  let count = 0;
  const resources = ["west", "north"].map((name) => ({
    name,
    upstream: startUpstream(() => json({ ...RESPONSE, id: `resp_${name}_${++count}` })),
  }));
  const deployments = resources.map(({ name, upstream }) => ({
    ...{ name, apiKey: `k-of-resource-${name}` },
    baseUrl: `${upstream.url}/openai/v1`,
  }));
  gateway = await startGateway({
    env: { WEIR_STATE: "none" },
    config: { providers: { azure: { deployments } } },
  });
  const { responses } = openaiClient(gateway.url);
  const model = "azure/gpt-5";
  const ids: string[] = [];
  for (let turn = 0; turn < 12; turn++)
    ids.push((await responses.create({ model, input: `question ${turn}` })).id);
  for (const previous_response_id of ids)
    await responses.create({ model, input: "go on", previous_response_id });
  for (const { name, upstream } of resources) {
    const bodies = upstream.requests.map(
      ({ body }) => JSON.parse(body.toString()) as { previous_response_id?: string },
    );
    const continued = bodies.flatMap(({ previous_response_id }) => previous_response_id ?? []);
    expect(continued).toEqual(ids.filter((id) => id.includes(name)));
    upstream.stop();
  }
});
