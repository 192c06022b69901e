/** Paths that weir serves without credentials, and what it says of those that it does not serve. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ config: { keys: [{ name: "k", key: "a-key-of-the-gateway-123456" }] } });
});

afterAll(() => gateway.stop());

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(method === "POST" && { body: "{}" }),
  });

interface ErrorBody {
  type?: string;
  error: { type: string; message: string; code?: string };
}

for (const path of ["/", "/api/hello"])
  test(`GET ${path} answers without credentials with name, version and the OpenAPI document`, async () => {
    const response = await ask("GET", path);
    expect(response.status).toBe(200);
    const greeting = path === "/" ? ["ollama"] : [];
    expect(Object.keys((await response.json()) as object)).toEqual([
      "name",
      "version",
      "openapi",
      ...greeting,
    ]);
    expect((await ask("HEAD", path)).status).toBe(200);
  });

test("POST /v1/chat/completions/count_tokens is 404, and the document does not list it", async () => {
  const response = await ask("POST", "/v1/chat/completions/count_tokens", {
    authorization: "Bearer a-key-of-the-gateway-123456",
  });
  expect(response.status).toBe(404);
  const document = await ask("GET", "/openapi.json", { authorization: "Bearer a-key-of-the-gateway-123456" });
  const { paths } = (await document.json()) as { paths: Record<string, unknown> };
  expect(Object.keys(paths).filter((path) => path.endsWith("count_tokens"))).toEqual([
    "/v1/messages/count_tokens",
  ]);
});

describe("a 404 names the path that the client meant", () => {
  const MEANT: readonly [path: string, meant: string][] = [
    ["/messages", "/v1/messages"],
    ["/messages/count_tokens", "/v1/messages/count_tokens"],
    ["/chat/completions", "/v1/chat/completions"],
    ["/v1/v1/messages", "/v1/messages"],
    ["/v1/v1/chat/completions", "/v1/chat/completions"],
    ["/v1/messages/", "/v1/messages"],
    ["/v1/chat/completions/", "/v1/chat/completions"],
    ["/V1/Chat/Completions", "/v1/chat/completions"],
    ["/openai/chat/completions", "/v1/chat/completions"],
    ["/api/v1/messages", "/v1/messages"],
    ["/models", "/v1/models"],
    ["/v1/models/", "/v1/models"],
  ];
  for (const [path, meant] of MEANT)
    test(path, async () => {
      const response = await ask(meant.endsWith("models") ? "GET" : "POST", path);
      const { error } = (await response.json()) as ErrorBody;
      // With its slash the list of models is a model without a name, for which a key is needed.
      if (path === "/v1/models/") return expect(response.status).toBe(401);
      expect([response.status, error.message]).toEqual([
        404,
        expect.stringContaining(`did you mean ${meant}?`),
      ]);
    });

  test("and no path of an API that weir does not have", async () => {
    for (const path of ["/v1/threads/t1/messages", "/nowhere"]) {
      const { error } = (await (await ask("POST", path)).json()) as ErrorBody;
      expect(error.message).not.toContain("did you mean");
    }
  });
});

test("GET / has the sentence by which clients of Ollama recognise a server", async () => {
  expect(await (await ask("GET", "/")).text()).toContain("Ollama is running");
});

test("a request to change a model at the gateway gets an error in the words of Ollama's API", async () => {
  const paths = ["pull", "push", "create", "copy", "blobs/sha256:0"].map((name) => `POST /api/${name}`);
  for (const [method, path] of [...paths, "DELETE /api/delete"].map((one) => one.split(" "))) {
    const response = await ask(method!, path!);
    const { error } = (await response.json()) as { error: string };
    expect([path, response.status, error]).toEqual([path!, 404, expect.stringContaining("cannot pull")]);
  }
});

test("a 404 of an endpoint that weir lacks names the switch of the client", async () => {
  const SWITCHES: readonly [path: string, says: string][] = [
    ["/v1/complete", "POST /v1/messages"],
    ["/v1/messages/batches/msgbatch_1/pause", "batches"],
    ["/v1/audio/voices", "POST /v1/audio/speech"],
    ["/v2/models/gemini-pro:generateContent", "below /v1beta/models"],
  ];
  for (const [path, says] of SWITCHES) {
    const response = await ask("POST", path);
    const { error } = (await response.json()) as ErrorBody;
    expect([path, response.status, error.message]).toEqual([path, 404, expect.stringContaining(says)]);
  }
});

test("an error outside of a format's routes has the dialect of the client's headers", async () => {
  const anthropic = { "anthropic-version": "2023-06-01" };
  const key = { authorization: "Bearer wrong-key-wrong-key" };
  for (const [method, path] of [
    ["POST", "/nowhere"],
    ["GET", "/v1/models"],
    ["POST", "/v1/explain"],
    ["DELETE", "/health"],
  ] as const) {
    const theirs = (await (await ask(method, path, { ...key, ...anthropic })).json()) as ErrorBody;
    expect([path, theirs.type]).toEqual([path, "error"]);
    const other = (await (await ask(method, path, key)).json()) as ErrorBody;
    expect([path, other.type]).toEqual([path, undefined]);
  }
  const meant = (await (await ask("POST", "/messages")).json()) as ErrorBody;
  expect(meant.type).toBe("error");
});

test("what an error repeats of a path is bounded", async () => {
  for (const [method, path] of [
    ["GET", `/${"x".repeat(8_000)}`],
    ["POST", `/v1/models/${"x".repeat(8_000)}`],
    ["DELETE", `/v1/models/${"é".repeat(2_000)}`],
  ] as const) {
    const text = await (await ask(method, path)).text();
    expect(Buffer.byteLength(text)).toBeLessThan(700);
  }
});

test("a WebSocket upgrade on the path of a call is 426 without a key, and the connection closes", async () => {
  const before = performance.now();
  const answer = await speak(
    gateway.port,
    "GET /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  expect(performance.now() - before).toBeLessThan(2_000);
  expect(answer).toStartWith("HTTP/1.1 426 ");
  expect(answer.toLowerCase()).toContain("connection: close");
  expect(answer).toContain('"code":"websocket_not_supported"');
});

/** Sends bytes and reads until the gateway closes the connection. */
async function speak(port: number, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let read = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, bytes) => void (read += bytes.toString()),
      close: () => resolve(read),
      error: (_, cause) => reject(cause),
    },
  });
  const timer = setTimeout(() => reject(new Error(`The connection stays open after: ${read}`)), 4_000);
  socket.write(text);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.end();
  });
}
