/** Input no HTTP library would send: ambiguous requests, odd hosts and paths, bodies that never come. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const KEY = "a-gateway-key-for-tests-1234";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({ id: "c", object: "chat.completion", created: 1, model: "m", choices: [] }));
  gateway = await startGateway({
    config: { ...upstreamConfig({ openai: upstream.url }), keys: [`tester:${KEY}`] },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

afterEach(async () => {
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});

const PATHS = ["/v1/chat/completions", "/v1/messages"] as const;
const JSON_TYPE = "content-type: application/json";
const CREDENTIAL = `x-api-key: ${KEY}`;
const BODY = JSON.stringify({
  model: "mock/echo",
  max_tokens: 9,
  messages: [{ role: "user", content: "hi" }],
});

/**
 * What comes back for the bytes: one whole answer, or, where more may follow that should not, all up to the end of the
 * connection or a quarter of a second of silence.
 */
function raw(text: string, all = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(gateway.port, "127.0.0.1", () => socket.write(text, "latin1"));
    let answer = "";
    const done = () => (socket.destroy(), resolve(answer));
    let timer = setTimeout(done, 2_000);
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      clearTimeout(timer);
      if (!all && isWhole(answer)) return done();
      timer = setTimeout(done, 250);
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", () => resolve(answer));
  });
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(answer)?.[1];
  return head >= 0 && length !== undefined && answer.length >= head + 4 + Number(length);
}

const request = (path: string, headers: readonly string[], body = BODY) =>
  [`POST ${path} HTTP/1.1`, ...headers, "", body].join("\r\n");

const post = (path: string, headers: readonly string[]) =>
  raw(request(path, [...headers, `content-length: ${BODY.length}`]));

/** How the error of a route begins, in its own dialect. */
const ENVELOPE: Record<(typeof PATHS)[number], string> = {
  "/v1/chat/completions": '{"error":{"message":',
  "/v1/messages": '{"type":"error","error":{"type":',
};

for (const path of PATHS) {
  describe(path, () => {
    test("two Host headers are refused in the dialect of the route", async () => {
      const answer = await post(path, ["Host: a.example", "Host: b.example", JSON_TYPE, CREDENTIAL]);
      expect(answer).toStartWith("HTTP/1.1 400");
      expect(answer).toContain(ENVELOPE[path]);
      expect(answer).toContain("Host");
    });

    test("a one-letter Host leads to the same route and still needs a key", async () => {
      expect(await post(path, ["Host: localhost", JSON_TYPE, CREDENTIAL])).toStartWith("HTTP/1.1 200");
      const refused = await post(path, ["Host: localhost", JSON_TYPE]);
      expect(refused).toStartWith("HTTP/1.1 401");
      expect(refused).toContain(ENVELOPE[path]);
    });

    test("a wrong key is refused before the body is read", async () => {
      for (const framing of ["content-length: 30000000", "transfer-encoding: chunked"]) {
        const answer = await raw(
          request(path, ["Host: localhost", JSON_TYPE, "x-api-key: wrong", framing], ""),
        );
        expect(answer).toStartWith("HTTP/1.1 401");
        expect(answer).toContain(ENVELOPE[path]);
      }
    });

    test("a body that says it is too large is refused before it is read", async () => {
      const answer = await raw(
        request(path, ["Host: localhost", JSON_TYPE, CREDENTIAL, `content-length: ${33 * 1024 * 1024}`], ""),
      );
      expect(answer).toStartWith("HTTP/1.1 413");
      expect(answer).toContain(ENVELOPE[path]);
    });

    test("a body in chunks of one byte is a body", async () => {
      const chunks = [...BODY].map((character) => `1\r\n${character}\r\n`).join("");
      const answer = await raw(
        request(
          path,
          ["Host: localhost", JSON_TYPE, CREDENTIAL, "transfer-encoding: chunked"],
          `${chunks}0\r\n\r\n`,
        ),
      );
      expect(answer).toStartWith("HTTP/1.1 200");
    });
  });
}

test("clients that leave in the middle of their upload reach no upstream and leave nothing behind", async () => {
  const before = upstream.requests.length;
  const body = BODY.replace("mock/echo", "openai/m");
  const half = request(
    "/v1/chat/completions",
    ["Host: localhost", JSON_TYPE, CREDENTIAL, `content-length: ${body.length}`],
    body.slice(0, -10),
  );
  for (let round = 0; round < 4; round++) {
    const sockets = Array.from({ length: 25 }, () => {
      const socket = connect(gateway.port, "127.0.0.1", () => socket.write(half));
      socket.on("error", () => {});
      return socket;
    });
    await Bun.sleep(20);
    for (const [index, socket] of sockets.entries())
      if (index % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
  }
  await Bun.sleep(50);
  expect(upstream.requests.length).toBe(before);
});

test("odd Hosts are refused", async () => {
  for (const host of ["a/b", "a?b", "a b", "[::1", "a@b", "", "a#b"])
    expect(await raw(`GET /v1/models HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/);
});

test("a key with odd bytes is just wrong", async () => {
  for (const key of ["\u00e9\u00e8", "' OR 1=1 --", "%00", "x".repeat(5000)])
    expect(await post("/v1/messages", ["Host: localhost", JSON_TYPE, `x-api-key: ${key}`])).toStartWith(
      "HTTP/1.1 401",
    );
});

/** Framings two readers could read differently: refused, and the connection is not used again. */
const AMBIGUOUS: readonly { why: string; headers: readonly string[]; body?: string }[] = [
  {
    why: "a length and chunks",
    headers: [`content-length: ${BODY.length}`, "transfer-encoding: chunked"],
    body: "0\r\n\r\n",
  },
  { why: "two lengths", headers: [`content-length: ${BODY.length}`, "content-length: 5"] },
  { why: "a length with a sign", headers: [`content-length: +${BODY.length}`] },
  { why: "a length in hexadecimal", headers: ["content-length: 0x10"] },
  { why: "an unknown transfer coding", headers: ["transfer-encoding: xchunked"] },
  { why: "chunks that are not the last coding", headers: ["transfer-encoding: chunked, identity"] },
  {
    why: "a space before the colon",
    headers: ["transfer-encoding : chunked", `content-length: ${BODY.length}`],
  },
  {
    why: "a folded header",
    headers: ["x-a: b", " transfer-encoding: chunked", `content-length: ${BODY.length}`],
  },
  { why: "a NUL in a header", headers: ["x-a: b\0c", `content-length: ${BODY.length}`] },
  {
    why: "a bare line feed in a header",
    headers: [`x-a: b\ntransfer-encoding: chunked`, `content-length: 4`],
  },
];

describe("ambiguous requests are refused, and what follows them is not answered", () => {
  for (const { why, headers, body = BODY } of AMBIGUOUS) {
    test(why, async () => {
      const smuggled = request("/v1/chat/completions", [
        "Host: localhost",
        JSON_TYPE,
        CREDENTIAL,
        `content-length: ${BODY.length}`,
      ]);
      const first = request(
        "/v1/chat/completions",
        ["Host: localhost", JSON_TYPE, CREDENTIAL, ...headers],
        body,
      );
      const answer = await raw(first + smuggled, true);
      expect(answer).toMatch(/^HTTP\/1\.1 (400|501|505)/);
      expect(answer).not.toContain("HTTP/1.1 200");
    });
  }
});

test("no spelling of a path gets past the key, and none is answered but with JSON", async () => {
  const spellings = [
    "/v1/models",
    "//v1/models",
    "/v1/models/",
    "/v1//models",
    "/V1/models",
    "/./v1/models",
    "/x/../v1/models",
    "/x/%2e%2e/v1/models",
    "/v1/%6dodels",
    "/v1/models;x=1",
    "/v1/models%00",
    "/v1/models%2f..",
    "/v1/models?x=/health",
    "/health/../v1/models",
    "/health%2f..%2fv1/models",
    "http://evil.example/v1/models",
    "/openapi.json#/health",
  ];
  for (const path of spellings) {
    const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect([path, /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]]).toEqual([
      path,
      expect.stringMatching(/^(400|401|404|405)$/),
    ]);
    expect(answer).not.toContain("mock/echo");
    expect([path, answer.toLowerCase()]).toEqual([
      path,
      expect.stringContaining("content-type: application/json"),
    ]);
  }
});

test("methods nobody offers are refused in JSON", async () => {
  for (const method of ["TRACE", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"]) {
    const answer = await raw(
      `${method} /v1/messages HTTP/1.1\r\nHost: localhost\r\n${CREDENTIAL}\r\ncontent-length: 0\r\n\r\n`,
    );
    expect([method, answer]).toEqual([method, expect.stringMatching(/^HTTP\/1\.1 4\d\d/)]);
    expect(answer).not.toContain("<html");
  }
  const connectAnswer = await raw("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n");
  expect(connectAnswer).toMatch(/^HTTP\/1\.1 4\d\d/);
});
