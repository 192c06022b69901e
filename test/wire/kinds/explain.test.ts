/** `POST /v1/explain` for each endpoint of the kinds: what would be sent, and that nothing is. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../../helpers/gateway.ts";
import { KIND_ENDPOINTS } from "../../helpers/kind-endpoints.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";

setDefaultTimeout(60_000);

/** A dialect that differs from that of every client, by kind. */
const HOSTS = {
  rerank: { rerank: { "voyage-rerank": "/k" } },
  moderation: { moderation: { "mistral-moderations": "/k" } },
  decision: { decision: { decisions: "/k" } },
  completion: { completion: { completions: "/k" } },
  image: { image: { "openai-images": "/k" } },
  speech: { speech: { "openai-speech": "/k" } },
} as const;

let upstream: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(() => json({}, 500));
  gateway = await startGateway({
    config: {
      ...{ admin: "off", state: "none" },
      providers: Object.fromEntries(
        Object.entries(HOSTS).map(([kind, does]) => [
          `h-${kind}`,
          { baseUrl: upstream.url, apiKey: "canary-0123456789", models: ["m"], does },
        ]),
      ),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

test.each(KIND_ENDPOINTS.map((endpoint) => [`${endpoint.name} at ${endpoint.path}`, endpoint] as const))(
  "%s",
  async (_name, { path, kind, format, body }) => {
    const asks = kind === "completion" ? format : path;
    const before = upstream.requests.length;
    const response = await fetch(`${gateway.url}/v1/explain?format=${encodeURIComponent(asks)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: `h-${kind}/m`, ...body("a red cat") }),
    });
    const text = await response.text();
    expect([response.status, text.includes("canary-0123456789")]).toEqual([200, false]);
    const explained = JSON.parse(text) as {
      request: { url: string; body: JsonObject };
      served_by: JsonObject;
    };
    expect(explained.request.url).toBe(`${upstream.url}/k`);
    expect(explained.request.body["model"]).toBe("m");
    expect(JSON.stringify(explained.request.body)).toContain("a red cat");
    expect(explained.served_by).toMatchObject({ provider: `h-${kind}`, model: "m" });
    expect(upstream.requests.length).toBe(before);
  },
);
