/** A page whose name leads to this machine (DNS rebinding) reaches no route of a gateway on loopback or without keys. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway, TARGET } from "../helpers/gateway.ts";

const FOREIGN = "evil.example:9347";
/** What the browser adds: for it, the page and the gateway are of one origin. */
const PAGE = { host: FOREIGN, origin: `http://${FOREIGN}`, "sec-fetch-site": "same-origin" };

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(() => gateway?.stop());

/** The status when a request names this host. */
async function statusOf(url: string, host: string, path = "/health"): Promise<number> {
  const answer = await fetch(`${url}${path}`, { headers: { host } });
  await answer.text();
  return answer.status;
}

async function listRoutes(): Promise<{ method: string; path: string }[]> {
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
    paths: Record<string, JsonObject>;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== "parameters")
      .map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{[^}]*\}/g, "x") })),
  );
}

test("every route refuses a foreign Host with 403, and names the option", async () => {
  const routes = await listRoutes();
  expect(routes.length).toBeGreaterThan(25);
  const others = ["/", "/nowhere", "/llms.txt", "/api/version"].map((path) => ({ method: "GET", path }));
  const answered: string[] = [];
  for (const { method, path } of [...routes, ...others]) {
    const answer = await fetch(gateway.url + path, {
      method,
      headers: { ...PAGE, ...(method === "POST" && { "content-type": "application/json" }) },
      ...(method === "POST" && { body: JSON.stringify({ model: "mock/chat" }) }),
    });
    const text = await answer.text();
    if (answer.status !== 403 || !(method === "HEAD" || text.includes("option names")))
      answered.push(`${method} ${path}: ${answer.status} ${text.slice(0, 80)}`);
  }
  expect(answered).toEqual([]);
});

const ENVELOPES: [string, (body: JsonObject) => unknown, unknown][] = [
  ["/v1/chat/completions", (body) => (body["error"] as JsonObject)["code"], "host_not_allowed"],
  ["/v1/responses", (body) => (body["error"] as JsonObject)["code"], "host_not_allowed"],
  ["/v1/messages", (body) => (body["error"] as JsonObject)["type"], "permission_error"],
  [
    "/v1beta/models/mock%2Fchat:generateContent",
    (body) => (body["error"] as JsonObject)["status"],
    "PERMISSION_DENIED",
  ],
  ["/api/chat", (body) => typeof body["error"], "string"],
];

for (const [path, member, expected] of ENVELOPES)
  test(`${path} says so in its own language`, async () => {
    const answer = await fetch(gateway.url + path, {
      method: "POST",
      headers: { ...PAGE, "content-type": "application/json" },
      body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hi" }] }),
    });
    expect(answer.status).toBe(403);
    expect(member((await answer.json()) as JsonObject)).toEqual(expected);
  });

test("addresses and names of this machine are answered, with any port", async () => {
  for (const host of [
    "127.0.0.1",
    "localhost:1",
    "[::1]:9",
    "192.0.2.1",
    "app.localhost",
    "host.docker.internal:9347",
  ])
    expect([host, await statusOf(gateway.url, host)]).toEqual([host, 200]);
});

describe("the option names", () => {
  for (const [where, options] of [
    ["in the file", { config: { names: ["llm.example", "Box"] } }],
    ["in the environment", { env: { WEIR_NAMES: "llm.example, Box" } }],
  ] as const)
    test(`${where} permits names`, async () => {
      const named = await startGateway(options as Parameters<typeof startGateway>[0]);
      try {
        expect(await statusOf(named.url, "llm.example")).toBe(200);
        expect(await statusOf(named.url, "box:9347")).toBe(200);
        expect(await statusOf(named.url, FOREIGN)).toBe(403);
      } finally {
        await named.stop();
      }
    });

  test("a name that is none stops the start", async () => {
    const wrong = startGateway({ config: { names: ["https://llm.example"] } });
    await expect(wrong).rejects.toThrow("names[0] must be a host name without scheme, port and path");
  });
});

test("a gateway on loopback with keys refuses a foreign Host too, before the key", async () => {
  const keyed = await startGateway({ config: { keys: ["tester:a-gateway-key-1234"] } });
  try {
    expect(await statusOf(keyed.url, FOREIGN)).toBe(403);
    expect(await statusOf(keyed.url, FOREIGN, "/v1/models")).toBe(403);
    expect(await statusOf(keyed.url, "localhost", "/v1/models")).toBe(401);
  } finally {
    await keyed.stop();
  }
});

test.skipIf(TARGET !== "source")(
  "a gateway with keys that other machines can reach, and a unix socket, ask for no name",
  async () => {
    const open = await startGateway({ config: { host: "0.0.0.0", keys: ["tester:a-gateway-key-1234"] } });
    const socket = join(gateway.folder, "weir.sock");
    const local = await startGateway({ config: { listen: { unix: socket } } });
    try {
      expect(await statusOf(`http://127.0.0.1:${open.port}`, FOREIGN)).toBe(200);
      const answer = await fetch("http://evil.example/health", { unix: socket });
      expect(answer.status).toBe(200);
    } finally {
      await open.stop();
      await local.stop();
    }
  },
);
