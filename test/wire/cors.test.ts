/** Browser apps of other origins: preflights, answers, errors and streams, for the origins of the config alone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

const ORIGIN = "https://app.example.com";
const KEY = "gateway-key-canary-0123456789";

let gateway: RunningGateway;
let closed: RunningGateway;
let open: RunningGateway;

beforeAll(async () => {
  const keys = [{ name: "app", key: KEY }];
  [gateway, closed, open] = await Promise.all([
    startGateway({ config: { cors: { origins: [ORIGIN, "Capacitor://localhost"] } } }),
    startGateway(),
    startGateway({ config: { keys, cors: { origins: ["*"] } } }),
  ]);
});

afterAll(() => Promise.all([gateway.stop(), closed.stop(), open.stop()]));

function preflight(
  to: RunningGateway,
  origin: string,
  wanted = "authorization, content-type",
): Promise<Response> {
  return fetch(`${to.url}/v1/messages`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": wanted,
    },
  });
}

function call(
  to: RunningGateway,
  origin: string | undefined,
  path: string,
  body: unknown,
): Promise<Response> {
  return fetch(to.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(origin && { origin }) },
    body: JSON.stringify(body),
  });
}

const asks = (model: string, stream = false) => ({
  model,
  stream,
  max_tokens: 100,
  messages: [{ role: "user", content: "Hello" }],
});

const PATHS = ["/v1/chat/completions", "/v1/messages"];

test("a preflight of an allowed origin allows the headers of both vendors' SDKs", async () => {
  const wanted =
    "anthropic-beta,anthropic-dangerous-direct-browser-access,anthropic-version,authorization,content-type,x-api-key,x-stainless-lang";
  const answer = await preflight(gateway, ORIGIN, wanted);
  expect(answer.status).toBe(204);
  expect(await answer.text()).toBe("");
  expect(answer.headers.get("access-control-allow-origin")).toBe(ORIGIN);
  expect(answer.headers.get("access-control-allow-headers")).toBe(wanted);
  expect(answer.headers.get("access-control-allow-methods")).toContain("POST");
  expect(answer.headers.get("vary")).toContain("origin");
  expect((await preflight(gateway, "capacitor://localhost")).status).toBe(204);
});

test("a preflight needs no gateway key, and names of headers that are none are not repeated", async () => {
  const answer = await preflight(open, "https://anywhere.example");
  expect(answer.status).toBe(204);
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  const odd = await preflight(open, "https://anywhere.example", "x-a, <script>");
  expect(odd.headers.has("access-control-allow-headers")).toBe(false);
  const long = await preflight(open, "https://anywhere.example", `x-${"a".repeat(5_000)}`);
  expect(long.headers.has("access-control-allow-headers")).toBe(false);
});

test("answers, streams and errors can be read by the app, with all of their headers", async () => {
  for (const path of PATHS)
    for (const [body, status] of [
      [asks("mock/chat"), 200],
      [asks("mock/chat", true), 200],
      [asks("mock/error-429"), 429],
      [asks("nobody-has-this"), 404],
      [{ nonsense: true }, 400],
    ] as const) {
      const answer = await call(gateway, ORIGIN, path, body);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("access-control-allow-origin")).toBe(ORIGIN);
      expect(answer.headers.get("access-control-expose-headers")).toBe("*");
      expect(answer.headers.get("vary")).toContain("origin");
      expect((await answer.text()).length).toBeGreaterThan(0);
    }
  const unknown = await fetch(`${gateway.url}/nowhere`, { headers: { origin: ORIGIN } });
  expect(unknown.status).toBe(404);
  expect(unknown.headers.get("access-control-allow-origin")).toBe(ORIGIN);
});

test("a wrong gateway key is an error that the app can read", async () => {
  const answer = await call(open, ORIGIN, "/v1/chat/completions", asks("mock/chat"));
  expect(answer.status).toBe(401);
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
});

test("other origins, and requests without one, get no word of CORS", async () => {
  for (const origin of ["https://evil.example", `${ORIGIN}.evil.example`, "http://app.example.com", "null"]) {
    const refused = await preflight(gateway, origin);
    expect(refused.status).toBe(405);
    expect(refused.headers.has("access-control-allow-origin")).toBe(false);
    const answer = await call(gateway, origin, "/v1/messages", asks("mock/chat"));
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  }
  const plain = await call(gateway, undefined, "/v1/messages", asks("mock/chat"));
  expect(plain.status).toBe(200);
  expect(plain.headers.has("access-control-allow-origin")).toBe(false);
});

test("CORS is off by default", async () => {
  expect((await preflight(closed, ORIGIN)).status).toBe(405);
  const answer = await call(closed, ORIGIN, "/v1/messages", asks("mock/chat"));
  expect(answer.status).toBe(200);
  expect([...answer.headers.keys()].filter((name) => /^access-control|^vary/.test(name))).toEqual([]);
});
