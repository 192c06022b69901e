/** What guards would do is explained, and nothing is sent: to no provider, and to no service that a guard asks. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { makeFolder, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { APIS, EMAIL, SPOKEN } from "../../../../test/helpers/guarded.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let weir: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(() => json({ verdict: "block" }));
  const provider = { baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567", models: ["m"] };
  const providers = Object.keys(SPOKEN).map((format) => [`p-${format}`, { ...provider, speaks: format }]);
  weir = await startGateway({
    config: {
      providers: {
        ...Object.fromEntries(providers),
        local: { ...provider, speaks: "chat-completions" },
      },
      guards: {
        pii: { find: ["email"], do: "replace" },
        cards: { find: ["card"], do: "block", on: ["input"] },
        private: { find: ["iban"], do: { route: "local/m" } },
        hook: { find: [{ webhook: `${upstream.url}/check` }], do: "block", on: ["input"] },
        extra: { find: ["ip"], do: "flag", on: ["input"], keys: [] },
      },
    },
  });
});
afterAll(async () => {
  await weir.stop();
  upstream.stop();
});

async function explain(format: string, body: JsonObject, headers: Record<string, string> = {}) {
  const response = await fetch(`${weir.url}/v1/explain?format=${format}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

interface Explained {
  served_by: { provider: string };
  request: { body: JsonObject };
  plugins: { guards: { guards: JsonObject[]; findings: { guard: string; kind: string; place: string }[] } };
}

const chat = (content: string): JsonObject => ({
  model: "p-chat-completions/m",
  messages: [{ role: "user", content }],
});

describe("the replaced body, and each finding with its place", () => {
  for (const format of Object.keys(APIS))
    test(format, async () => {
      const spoken = format in SPOKEN ? format : "chat-completions";
      const model = `p-${spoken}/m`;
      const { tools: _, ...plain } = APIS[format]!.body(model, false, `Write to ${EMAIL}.`) as JsonObject;
      const asked = JSON.stringify({ ...plain, model }).replaceAll("4111 1111 1111 1111", "cash");
      const { status, body } = await explain(format, JSON.parse(asked) as JsonObject);
      expect([status, status === 200 || body]).toEqual([200, true]);
      const { plugins, request } = body as unknown as Explained;
      const { guards, findings } = plugins.guards;
      expect(guards.map(({ name, verdict }) => `${String(name)} ${String(verdict)}`)).toEqual([
        ...["pii replaced", "cards passed", "private passed", "hook not-inspected"],
      ]);
      expect(findings.length).toBeGreaterThan(0);
      expect(new Set(findings.map(({ guard, kind }) => `${guard} ${kind}`))).toEqual(new Set(["pii EMAIL"]));
      expect(findings.every(({ place }) => place.length > 3)).toBe(true);
      const sent = JSON.stringify(request.body);
      expect(sent).toMatch(/PII_EMAIL_[a-z2-7]{8}/);
      expect(sent).not.toContain(EMAIL);
      expect(upstream.requests).toEqual([]);
    });
});

test("a guard that asks a service says that it was not asked, one that is added takes part", async () => {
  const { body } = await explain("chat-completions", chat("from 192.0.2.7"), {
    "x-weir-guards-add": "extra",
  });
  const { guards, findings } = (body as unknown as Explained).plugins.guards;
  expect(guards.find(({ name }) => name === "hook")).toMatchObject({
    asks: "a service, which was not asked",
  });
  expect(findings).toEqual([{ guard: "extra", kind: "IP", place: "messages[0].content" }]);
});

test("a guard that leads calls elsewhere says so, and the other model is explained", async () => {
  const { body } = await explain("chat-completions", chat("IBAN DE89370400440532013000"));
  const { plugins, served_by } = body as unknown as Explained;
  expect(plugins.guards.guards[0]).toMatchObject({ name: "private", verdict: "routed", route: "local/m" });
  expect(served_by.provider).toBe("local");
});

test("what a guard blocks is the error of the call", async () => {
  const { status, body } = await explain("chat-completions", chat("4111 1111 1111 1111"));
  expect([status, (body["error"] as JsonObject)["message"]]).toEqual([
    ...[400, 'The guard "cards" refused messages[0].content: it holds a value of the kind CARD.'],
  ]);
  expect(upstream.requests).toEqual([]);
});

test("weir explain shows the same without a gateway", async () => {
  const config = {
    guards: { pii: { find: ["email"], do: "replace" }, cards: { find: ["card"], do: "block" } },
  };
  const folder = await makeFolder({ config });
  const run = async (content: string) => {
    const file = join(folder, "request.json");
    await Bun.write(file, JSON.stringify({ ...chat(content), model: "mock/chat", max_tokens: 5 }));
    const main = join(import.meta.dir, "../../../main.ts");
    const child = Bun.spawn([process.execPath, main, "explain", "--format", "chat-completions", file], {
      ...{ cwd: folder, env: environmentIn(folder), stdout: "pipe", stderr: "pipe" },
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, out, err };
  };
  const { code, out, err } = await run(`Write to ${EMAIL}`);
  expect([code, err]).toEqual([0, ""]);
  const { plugins } = JSON.parse(out) as Explained;
  expect(plugins.guards.guards.map(({ name, verdict }) => [name, verdict])).toEqual([
    ...[
      ["pii", "replaced"],
      ["cards", "passed"],
    ],
  ]);
  expect(plugins.guards.findings).toEqual([{ guard: "pii", kind: "EMAIL", place: "messages[0].content" }]);
  expect(out).not.toContain(EMAIL);
  const refused = await run("4111 1111 1111 1111");
  expect([refused.code, refused.err]).toEqual([
    ...[1, 'weir: The guard "cards" refused messages[0].content: it holds a value of the kind CARD.\n'],
  ]);
  await rm(folder, { recursive: true });
});
