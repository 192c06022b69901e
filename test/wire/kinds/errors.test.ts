/** What clients of each kind of model read when a call is refused: in the shape of their endpoint, before a provider is asked. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { type BookedGateway, startBooked } from "../../helpers/books.ts";
import { KIND_ENDPOINTS, type KindEndpoint } from "../../helpers/kind-endpoints.ts";
import { budget } from "../../helpers/ledger.ts";

setDefaultTimeout(60_000);

const KEYS = {
  good: "weir-good-key-1234567890",
  ended: "weir-ended-key-1234567890",
  chat: "weir-chat-key-1234567890",
};
const MAIL = "write to zoe@example.org";

let gateway: BookedGateway;

beforeAll(async () => {
  gateway = await startBooked({
    keys: [
      { name: "good", key: KEYS.good },
      { name: "ended", key: KEYS.ended, expires: "2020-01-01" },
      { name: "chat", key: KEYS.chat, endpoints: ["chat"] },
    ],
    // The mock is free without a price.
    prices: { "mock/*": { input: 1, output: 1 } },
    guards: { mail: { find: ["email"], on: ["input"], do: "block" } },
  });
});
afterAll(() => gateway.stop());

const ask = async ({ path, body }: KindEndpoint, model: string, key = KEYS.good, said = "a red cat") => {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, ...body(said) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
};

describe.each(KIND_ENDPOINTS.map((endpoint) => [`${endpoint.name} at ${endpoint.path}`, endpoint] as const))(
  "%s",
  (_name, endpoint) => {
    const { errorIn, model } = endpoint;
    const refused = async (...asked: [model: string, key?: string, text?: string]) => {
      const { status, text } = await ask(endpoint, ...asked);
      const { message, code } = errorIn(JSON.parse(text) as JsonObject);
      return { status, message, code };
    };

    test("answers", async () => {
      expect((await ask(endpoint, model)).status).toBe(200);
    });

    test("a model that does not exist, and one of another kind", async () => {
      const unknown = { status: 404, code: "model_not_found", message: expect.stringContaining("nowhere/m") };
      expect(await refused("nowhere/m")).toMatchObject(unknown);
      const other = endpoint.kind === "rerank" ? "mock/moderation" : "mock/rerank";
      const wrong = { status: 404, code: "model_not_found", message: expect.stringContaining(`${other}\``) };
      expect(await refused(other)).toMatchObject(wrong);
    });

    test("no key, a key that has ended, and one for another endpoint", async () => {
      const wrongKey = { status: 401, code: "invalid_api_key", message: expect.any(String) };
      expect(await refused(model, "")).toMatchObject({ status: 401, message: expect.any(String) });
      expect(await refused(model, "weir-no-such-key-1234567890")).toMatchObject(wrongKey);
      expect(await refused(model, KEYS.ended)).toMatchObject({ ...wrongKey, code: expect.any(String) });
      const scoped = { status: 403, message: expect.any(String), code: expect.any(String) };
      expect(await refused(model, KEYS.chat)).toMatchObject(scoped);
    });

    test("a guard", async () => {
      const blocked = { status: 400, code: "blocked_by_guard", message: expect.any(String) };
      expect(await refused(model, KEYS.good, MAIL)).toMatchObject(blocked);
    });

    test("a body that is no JSON, and one without its texts", async () => {
      const post = (text: string) =>
        fetch(gateway.url + endpoint.path, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${KEYS.good}` },
          body: text,
        });
      for (const text of ["{", "[]", JSON.stringify({ model })]) {
        const response = await post(text);
        const { message } = errorIn((await response.json()) as JsonObject);
        expect([text, response.status, message]).toEqual([text, 400, expect.any(String)]);
      }
    });
  },
);

test("a budget that is used up, at each endpoint", async () => {
  const poor = await startBooked({ prices: { "mock/*": { input: 1, output: 1 } } }, [budget("all", 1)]);
  try {
    for (const { path, model, body, errorIn } of KIND_ENDPOINTS) {
      const response = await fetch(poor.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, ...body("a red cat") }),
      });
      const { message, code } = errorIn((await response.json()) as JsonObject);
      expect([path, response.status, code]).toEqual([path, 429, "insufficient_quota"]);
      expect(String(message)).toContain("budget");
    }
  } finally {
    await poor.stop();
  }
});
