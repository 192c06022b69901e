/** Responses that are made of one shared object of headers. */
import { expect, test } from "bun:test";
import { createRequestId, respond } from "../../src/server/respond.ts";

const constant = Object.freeze({ "content-type": "application/json", "x-weir-model": "m" });
const answer = (headers: Record<string, string> = {}) => ({ status: 200, constant, headers, body: "{}" });
const NAMES = ["x-request-id", "request-id", "x-weir-model", "x-own"];
const read = (headers: Headers) => NAMES.map((name) => headers.get(name));

test("each response has its own ids and headers, also while another one waits", async () => {
  const waiting = Promise.withResolvers<void>();
  using server = Bun.serve({
    port: 0,
    async fetch({ url }) {
      if (!url.endsWith("/first")) return respond(answer({ "x-own": "second" }), "req_second");
      const response = respond(answer(), "req_first");
      await waiting.promise;
      return response;
    },
  });
  const first = fetch(`${server.url}first`);
  const second = await fetch(`${server.url}second`);
  waiting.resolve();
  expect(read(second.headers)).toEqual(["req_second", "req_second", "m", "second"]);
  expect(read((await first).headers)).toEqual(["req_first", "req_first", "m", null]);
});

test("no header of an answer takes the place of an id, and one of a name that is constant replaces it", () => {
  const { headers } = respond(answer({ "request-id": "theirs", "x-weir-model": "other" }), "req_a");
  expect(read(headers)).toEqual(["req_a", "req_a", "other", null]);
  expect(read(respond(answer(), "req_b").headers)).toEqual(["req_b", "req_b", "m", null]);
});

test("ids differ, and are what a header may hold", () => {
  const ids = Array.from({ length: 2_000 }, createRequestId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^req_[\w-]{24}$/);
});
