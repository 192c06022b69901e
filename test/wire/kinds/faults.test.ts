/** Every fault of the mock at every endpoint of the kinds, and hosts whose answers are none. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { CANARY, mockModels } from "../../../plugins/mock/index.ts";
import { FAULT_STATUSES } from "../../../plugins/mock/faults.ts";
import { type RunningGateway, startGateway } from "../../helpers/gateway.ts";
import { KIND_ENDPOINTS, type KindEndpoint } from "../../helpers/kind-endpoints.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";

setDefaultTimeout(120_000);

/** Endpoint by name: one for each path is enough here. */
const ENDPOINTS = [...new Map(KIND_ENDPOINTS.toReversed().map((one) => [one.path, one])).values()];

/** What weir answers for a status of a provider, where it is another one. */
const ANSWERED: Readonly<Record<number, number | undefined>> = {
  401: 502,
  402: 502,
  403: 502,
  408: 504,
  500: 502,
  529: 503,
};
/** The models that fail before an answer, with the status. */
const FAILING: Record<string, number> = {
  ...Object.fromEntries(FAULT_STATUSES.map((status) => [`error-${status}`, ANSWERED[status] ?? status])),
  ...{ "html-500": 502, "html-502": 502, "html-503": 503, "html-504": 504, "html-529": 503 },
  ...{ "rate-limited-5": 429, "context-length": 400, "flaky-100": 503, stall: 504, throw: 500 },
};

let gateway: RunningGateway;
let upstream: Upstream;

const KINDS = {
  rerank: {
    "jina-rerank": "/k",
    "cohere-rerank": "/k",
    "voyage-rerank": "/k",
    "tei-rerank": "/k",
    score: "/k",
  },
  moderation: { moderations: "/k", "mistral-moderations": "/k", "mistral-chat-moderations": "/k" },
  decision: { decisions: "/k" },
  completion: { completions: "/k", fim: "/k" },
  image: { "openai-images": "/k" },
  speech: { "openai-speech": "/k" },
};
const HOSTS = Object.entries(KINDS).flatMap(([kind, dialects]) =>
  Object.keys(dialects).map((dialect) => ({ kind, dialect, name: `host-${dialect}` })),
);

beforeAll(async () => {
  upstream = startUpstream(() => json({}));
  gateway = await startGateway({
    config: {
      ...{ admin: "off", state: "none", log: { format: "json" }, retries: { attempts: 1 } },
      timeouts: { firstByteMs: 1_000, gapMs: 1_000 },
      providers: Object.fromEntries(
        HOSTS.map(({ kind, dialect, name }) => [
          name,
          { baseUrl: upstream.url, models: ["m"], does: { [kind]: { [dialect]: "/k" } } },
        ]),
      ),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function ask({ path, body }: KindEndpoint, model: string, more: JsonObject = {}) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, ...body("a red cat"), ...more }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("the list of faults has all models of the mock that fail", () => {
  const tried = Object.keys(FAILING);
  const all = mockModels.filter(({ does }) => does === "all").map(({ name }) => name.split("<")[0]!);
  // It only waits.
  const missing = all.filter((name) => name !== "slow-start-" && !tried.some((one) => one.startsWith(name)));
  expect(missing).toEqual([]);
});

describe.each(ENDPOINTS.map((endpoint) => [endpoint.path, endpoint] as const))("%s", (_path, endpoint) => {
  test.concurrent.each(Object.entries(FAILING))(
    "mock/%s is %i in the shape of the endpoint",
    async (name, status) => {
      const seen = await ask(endpoint, `mock/${name}`);
      expect(seen.status).toBe(status);
      const { message } = endpoint.errorIn(JSON.parse(seen.text) as JsonObject);
      expect(message).toEqual(expect.any(String));
      expect(seen.text).not.toContain(CANARY);
      if (name === "rate-limited-5") expect(seen.headers.get("retry-after")).toBe("5");
    },
  );

  test("an answer that comes late comes", async () => {
    expect((await ask(endpoint, "mock/slow-start-300")).status).toBe(200);
  });
});

/** Models whose streams end in the middle. */
const BROKEN = ["cut", "cut-after-2", "garbled-after-2", "overloaded-mid-stream", "stall-after-2"];
const STREAMED = ENDPOINTS.filter(({ kind }) => kind === "completion");

describe.each(STREAMED.map((endpoint) => [endpoint.path, endpoint] as const))(
  "%s, streamed",
  (_path, endpoint) => {
    test.concurrent.each(BROKEN)("mock/%s is no whole answer", async (name) => {
      const seen = await ask(endpoint, `mock/${name}`, { stream: true, max_tokens: 100 }).catch(String);
      const text = typeof seen === "string" ? seen : seen.text;
      expect(text).not.toContain("[DONE]");
      expect(text).not.toMatch(/"finish_reason":"(stop|length)"/);
      if (typeof seen !== "string" && seen.status === 200) expect(text).toContain('"error"');
    });

    test("a content filter is told", async () => {
      expect((await ask(endpoint, "mock/content-filter", { stream: true, max_tokens: 100 })).text).toContain(
        '"finish_reason":"content_filter"',
      );
    });
  },
);

/** Bodies that are answers of no dialect, with status 200. */
const NONE: Record<string, string> = {
  nothing: "",
  "a page": "<!doctype html><title>Bad Gateway</title>",
  "half of an answer": '{"results":[{"index":0,"relevance_score":0.5},{"ind',
  "an empty object": "{}",
  "an empty list": "[]",
  null: "null",
  "a number": "17",
  "lists of other things": '{"results":[1,null],"data":["a"],"answers":[null],"choices":[]}',
  "members of other types":
    '{"results":{"0":1},"data":"x","answers":{},"choices":"none","usage":"many","meta":[1]}',
  "scores that are texts":
    '{"results":[{"index":0,"relevance_score":"high"},{"index":1,"relevance_score":"low"}],"data":[{"index":"0","score":1}],"answers":[],"choices":[]}',
  "results without categories": '{"results":[{"flagged":false}],"data":[{}],"answers":[],"choices":[]}',
};

describe.each(HOSTS)("at a host of $dialect", ({ kind, name }) => {
  const endpoint = ENDPOINTS.find((one) => one.kind === kind)!;

  // As in conversations, an object from a host of the client's own format is passed as it is.
  const isPassed = kind === "completion" && name === "host-fim";
  const bodies = Object.entries(NONE).filter(([, body]) => !isPassed || !body.endsWith("}"));

  test.each(bodies)("%s is a failed answer", async (_name, body) => {
    upstream.answer(() => ({ ...json({}), body }));
    const { status, text } = await ask(endpoint, `${name}/m`);
    const { message } = endpoint.errorIn(JSON.parse(text) as JsonObject);
    expect([status, message]).toEqual([502, expect.any(String)]);
  });

  test.each([400, 401, 404, 422, 429, 500, 503])("an error %i keeps its sentence", async (status) => {
    const sentences = { message: "a-word-of-the-vendor", detail: "a-word-of-the-vendor" };
    upstream.answer(() => json({ ...sentences, error: { message: "a-word-of-the-vendor" } }, status));
    const seen = await ask(endpoint, `${name}/m`);
    // A client of the host's own dialect gets its status.
    expect([status, ANSWERED[status]]).toContain(seen.status);
    const { message } = endpoint.errorIn(JSON.parse(seen.text) as JsonObject);
    // What a host says of weir's credential is for the log.
    if (status !== 401) expect(message).toEqual(expect.stringContaining("a-word-of-the-vendor"));
  });

  test("an answer that breaks off is a failed one", async () => {
    upstream.answer(() => ({ ...json({}), body: '{"results":', length: 100, ending: "fin" }));
    expect((await ask(endpoint, `${name}/m`)).status).toBe(502);
  });
});
