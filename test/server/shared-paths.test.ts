/** Who asks at a path that the APIs of several vendors share. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import type { NamedPart, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

const KEY = "shared-paths-key-1234567890";

/** Routes that tell whose API the client speaks, who asks, and how long the body is. */
const telling: NamedPart<WorkerHost, WorkerPart> = {
  name: "telling",
  load: async () => ({
    start: () => ({
      seams: () => ({
        routes: (["/v1/things", "/v1/things/{id}", "/upload/v1/things"] as const).map((path) => ({
          ...{
            method: "POST" as const,
            path,
            id: `tell${path.length}`,
            summary: "Tells.",
            isShared: true as const,
          },
          async handle(_request, visit) {
            const caller = await visit.caller("things");
            let bytes = 0;
            for await (const piece of visit.stream(100_000)) bytes += piece.length;
            return Response.json({ vendor: visit.vendor, caller: caller?.name, bytes });
          },
        })),
      }),
    }),
  }),
};

let gateway: RunningGateway;

beforeAll(async () => {
  const limits = { bodyMs: 1_000, bodyRate: 1_000_000 };
  gateway = await startGateway({
    config: { keys: [{ name: "alice", key: KEY }], limits },
    workers: [telling],
  });
});

afterAll(() => gateway.stop());

const ask = async (path: string, headers: Record<string, string>, body = "") => {
  const answer = await fetch(gateway.url + path, { method: "POST", headers, body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

test.each([
  ["/v1/things", { authorization: `Bearer ${KEY}` }, "openai"],
  ["/v1/things/abc", { "x-api-key": KEY }, "openai"],
  ["/v1/things", { authorization: `Bearer ${KEY}`, "anthropic-version": "2026-10-21" }, "anthropic"],
  ["/v1/things", { "x-api-key": KEY, "anthropic-version": "1", "x-goog-api-client": "x" }, "anthropic"],
  ["/v1/things", { "x-goog-api-key": KEY }, "google"],
  [`/v1/things?key=${KEY}`, {}, "google"],
  ["/v1/things/abc:download", { authorization: `Bearer ${KEY}` }, "google"],
  ["/upload/v1/things", { authorization: `Bearer ${KEY}` }, "google"],
])("%s with %j is asked by a client of %s", async (path, headers: Record<string, string>, vendor) => {
  expect(await ask(path, headers)).toEqual({ status: 200, body: { vendor, caller: "alice", bytes: 0 } });
});

test("an error has the shape of the vendor", async () => {
  const openai = await ask("/v1/things", {});
  expect(openai.body).toMatchObject({ error: { type: "invalid_request_error" } });
  const anthropic = await ask("/v1/things", { "anthropic-version": "1" });
  expect(anthropic.body).toMatchObject({ type: "error", error: { type: "authentication_error" } });
  const google = await ask("/v1/things?key=wrong", {});
  expect(google.body).toMatchObject({ error: { code: 401, status: "UNAUTHENTICATED" } });
});

test("a body is read as it arrives, up to its limit", async () => {
  const headers = { authorization: `Bearer ${KEY}` };
  expect((await ask("/v1/things", headers, "x".repeat(100_000))).body).toMatchObject({ bytes: 100_000 });
  expect((await ask("/v1/things", headers, "x".repeat(100_001))).status).toBe(413);
  const pieces = new ReadableStream({
    start(controller) {
      for (let sent = 0; sent < 3; sent++) controller.enqueue(new TextEncoder().encode("x".repeat(40_000)));
      controller.close();
    },
  });
  const chunked = await fetch(`${gateway.url}/v1/things`, { method: "POST", headers, body: pieces });
  expect(chunked.status).toBe(413);
});

test("a body that stalls is a 408", async () => {
  const socket = connect(gateway.port, "127.0.0.1");
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.once("data", (data) => resolve(data.toString()));
  socket.write(
    `POST /v1/things HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEY}\r\ncontent-length: 1000\r\n\r\nbegin`,
  );
  expect(await promise).toStartWith("HTTP/1.1 408");
  socket.destroy();
});
