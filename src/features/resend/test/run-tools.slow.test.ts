/** Tools that weir runs: a call that is sent again runs them only if the operator says so. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../../../test/helpers/serving.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";

setDefaultTimeout(120_000);

interface Asked {
  id?: number;
  method: string;
  params?: { protocolVersion?: string };
}

let books: RunningBooks;
let shop: Bun.Server<undefined>;
/** Calls of the tool. */
let ran = 0;

const RESULTS: Readonly<Record<string, (asked: Asked) => object>> = {
  initialize: ({ params }) => ({
    protocolVersion: params?.protocolVersion ?? "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "shop", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "order", inputSchema: { type: "object", properties: {} } }] }),
  "tools/call": () => {
    ran += 1;
    return { content: [{ type: "text", text: "ordered" }] };
  },
};

beforeAll(async () => {
  shop = Bun.serve({
    port: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const asked = (await request.json()) as Asked;
      if (asked.id === undefined) return new Response(null, { status: 202 });
      const result = RESULTS[asked.method];
      return Response.json({
        ...{ jsonrpc: "2.0", id: asked.id },
        ...(result ? { result: result(asked) } : { error: { code: -32601, message: "unknown" } }),
      });
    },
  });
  books = await startBooks({
    workers: 1,
    config: {
      capture: { share: 1 },
      tools: { servers: { shop: { url: `http://127.0.0.1:${shop.port}/mcp`, allow: ["*"] } } },
    },
  });
});
afterAll(async () => {
  await books?.end();
  await shop?.stop(true);
});

const post = (path: string, body: object) =>
  fetch(`${books.admin.url}/admin/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${books.admin.credential}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("change 9: they are named before, refused without a word of the operator, and run with it", async () => {
  const first = await fetch(`${books.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-tools": "shop" },
    body: JSON.stringify({
      model: "mock/chat",
      messages: [{ role: "user", content: "Use shop__order now" }],
    }),
  });
  await first.text();
  const id = first.headers.get("x-request-id")!;
  await until(async () => (await post(`/calls/${id}/replay/explain`, {})).ok);
  expect(ran).toBe(1);

  const plan = (await (await post(`/calls/${id}/replay/explain`, {})).json()) as { runs: string[] };
  expect(plan.runs).toEqual(["shop__order"]);
  const refused = await post(`/calls/${id}/replay`, {});
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({
    error: { code: "tools_would_run", message: expect.stringContaining("shop__order") },
  });
  expect(ran).toBe(1);

  const again = await post(`/calls/${id}/replay`, { runTools: true });
  await again.text();
  expect([again.status, ran]).toEqual([200, 2]);
});
