/** Request smuggling: no ambiguous request is handled, alone and behind the proxies people put in front. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway } from "../helpers/gateway.ts";
import { exchangeRaw, KEY, startBinary } from "./armour.ts";
import { ambiguous, BODY } from "./framing-vectors.ts";
import { goal, LISTING } from "./goals.ts";

/** Says in the log for whom it was called, and by whom. */
const WITNESS = `import { definePlugin, NO_USAGE } from "weir";
  export default definePlugin({ name: "witness", providers: [{ name: "witness", async *generate(request, call) {
    console.log("witness", call.target.model, call.headers.get("x-via") ?? "none", "seen");
    yield { type: "message-start", id: "w", model: request.model };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "for " + call.target.model };
    yield { type: "block-end", index: 0 };
    yield { type: "message-end", reason: { kind: "stop" }, usage: NO_USAGE };
  } }] });`;

const PATH = "/v1/chat/completions";
const HEADERS = ["content-type: application/json", `x-api-key: ${KEY}`];

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startBinary({
    config: { keys: [`tester:${KEY}`], names: ["weir"] },
    plugins: { "witness.ts": WITNESS },
  });
}, 600_000);

afterAll(() => gateway?.stop());

function good(model: string, more: readonly string[] = []): string {
  const body = BODY(`witness/${model}`);
  return `POST ${PATH} HTTP/1.1\r\n${["Host: localhost", ...HEADERS, ...more, `content-length: ${body.length}`].join("\r\n")}\r\n\r\n${body}`;
}

/** Who called the witness for models that begin so, as lines of the log. */
async function witnessed(beginning: string): Promise<string[]> {
  await Bun.sleep(100);
  return gateway.log.filter((line) => line.startsWith(`witness ${beginning}`));
}

goal(
  24,
  "smuggling corpus, alone",
  "≥ 80 vectors: 0 handler calls, each refused with 4xx or 5xx and the connection closed",
  async () => {
    const vectors = ambiguous({ path: PATH, headers: HEADERS }, (index) => `witness/first-${index}`);
    const wrong: string[] = [];
    const send = async (at: number) => {
      const { why, bytes } = vectors[at]!;
      const { statuses, closed } = await exchangeRaw(gateway.port, bytes(good(`smuggled-${at}`)));
      const refused = statuses.length <= 1 && (statuses[0] ?? 400) >= 400;
      if (!refused || !closed)
        wrong.push(`${JSON.stringify(why)}: ${statuses.join(", ")}${closed ? "" : ", left open"}`);
    };
    for (let at = 0; at < vectors.length; at += 20)
      await Promise.all(vectors.slice(at, at + 20).map((_, index) => send(at + index)));
    const handled = [...(await witnessed("first-")), ...(await witnessed("smuggled-"))];
    for (const sentence of [...wrong, ...handled].slice(0, 20)) console.log(sentence);
    return {
      measured: `${vectors.length} vectors: ${handled.length} handler calls, ${wrong.length} not refused or left open`,
      holds: handled.length === 0 && wrong.length === 0 && vectors.length >= 80,
    };
  },
);

test("what looks odd and is lawful is served", async () => {
  const body = BODY("witness/lawful");
  const head = (lines: readonly string[]) =>
    `POST ${PATH} HTTP/1.1\r\n${["Host: localhost", ...HEADERS, ...lines].join("\r\n")}\r\n\r\n`;
  const size = body.length.toString(16);
  const lawful: Record<string, string> = {
    "a length with zeros before it": head([`content-length: 000${body.length}`]) + body,
    "a coding in capitals": `${head(["Transfer-Encoding: CHUNKED"])}${size}\r\n${body}\r\n0\r\n\r\n`,
    "a chunk with an extension": `${head(["transfer-encoding: chunked"])}${size};a=b\r\n${body}\r\n0\r\n\r\n`,
    "a chunk size in capitals with zeros": `${head(["transfer-encoding: chunked"])}00${size.toUpperCase()}\r\n${body}\r\n000\r\n\r\n`,
    "white space around a value": head([`content-length: \t ${body.length} \t`]) + body,
    "another name that only looks like it":
      head(["transfer_encoding: chunked", `content-length: ${body.length}`]) + body,
  };
  for (const [why, bytes] of Object.entries(lawful))
    expect([why, (await exchangeRaw(gateway.port, bytes)).statuses]).toEqual([why, [200]]);
});

test("two requests in one piece are two answers, in their order", async () => {
  const { text, statuses } = await exchangeRaw(gateway.port, good("one") + good("two"));
  expect(statuses).toEqual([200, 200]);
  expect(text.indexOf("for one")).toBeLessThan(text.indexOf("for two"));
});

test("a body that looks like a request is a body", async () => {
  const inner = good("inner");
  const bytes = `GET /health HTTP/1.1\r\nHost: localhost\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`;
  expect((await exchangeRaw(gateway.port, bytes)).statuses).toEqual([200]);
  expect(await witnessed("inner")).toEqual([]);
});

test("a trailer section changes nothing of the request it is behind", async () => {
  const body = BODY("witness/trailed");
  const head = `POST ${PATH} HTTP/1.1\r\n${["Host: localhost", "content-type: application/json", "transfer-encoding: chunked", "trailer: x-api-key"].join("\r\n")}\r\n\r\n`;
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\nx-api-key: ${KEY}\r\n\r\n`;
  expect((await exchangeRaw(gateway.port, head + chunks)).statuses[0]).toBe(401);
  expect(await witnessed("trailed")).toEqual([]);
});

test("HTTP/1.0 is served, and its connection closed behind the answer", async () => {
  const { statuses, closed } = await exchangeRaw(gateway.port, good("old").replace("HTTP/1.1", "HTTP/1.0"));
  expect([statuses, closed]).toEqual([[200], true]);
});

test("Expect: 100-continue is answered before the body, and a strange expectation does no harm", async () => {
  const { statuses } = await exchangeRaw(gateway.port, good("expected", ["expect: 100-continue"]));
  expect(statuses.at(-1)).toBe(200);
  const odd = await exchangeRaw(gateway.port, good("odd", ["expect: a-miracle"]));
  expect([200, 417]).toContain(odd.statuses.at(-1)!);
});

test("heads over 16 KB, or of 200 lines, are refused, and the connection closed", async () => {
  const long = await exchangeRaw(gateway.port, good("long", [`x-long: ${"x".repeat(17_000)}`]));
  expect([long.statuses, long.closed]).toEqual([[431], true]);
  const many = await exchangeRaw(
    gateway.port,
    good(
      "many",
      Array.from({ length: 200 }, (_, index) => `x-${index}: y`),
    ),
  );
  expect([many.statuses, many.closed]).toEqual([[431], true]);
  const path = await exchangeRaw(
    gateway.port,
    `GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  );
  expect([path.statuses[0]! >= 400, path.closed]).toEqual([true, true]);
  expect(await witnessed("long")).toEqual([]);
});

test("methods and targets nobody offers", async () => {
  for (const method of [
    "TRACE",
    "CONNECT",
    "PUT",
    "DELETE",
    "PATCH",
    "PURGE",
    "PROPFIND",
    "post",
    "G3T",
    "A".repeat(500),
  ]) {
    const { statuses, text, closed } = await exchangeRaw(
      gateway.port,
      `${method} ${PATH} HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${KEY}\r\nx-canary: c4n4ry\r\n\r\n`,
    );
    // What is no method at all is not even answered: the connection is closed.
    expect([method, (statuses[0] ?? 0) >= 400 || (closed && text === "")]).toEqual([method, true]);
    expect(text).not.toContain("c4n4ry");
  }
  const absolute = good("absolute").replace(PATH, `http://elsewhere.example${PATH}`);
  const seen = (await exchangeRaw(gateway.port, absolute)).statuses[0]!;
  expect([200, 400]).toContain(seen);
  for (const target of [
    "*",
    "elsewhere.example:443",
    "?",
    "%2fv1%2fmodels",
    "/v1/%",
    "/v1/models/%ff%fe",
    "/v1/models/a%2f..%2fb",
  ])
    expect([
      target,
      (
        await exchangeRaw(
          gateway.port,
          `GET ${target} HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${KEY}\r\n\r\n`,
        )
      ).statuses[0]! >= 400,
    ]).toEqual([target, true]);
});

test("a client that closes its side behind the request is dropped, and nothing is left of its call", async () => {
  const { statuses } = await exchangeRaw(gateway.port, good("half-closed"), { end: true });
  expect(statuses.length).toBeLessThanOrEqual(1);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});

interface Proxy {
  name: string;
  program: string;
  config(port: number, folder: string): string;
  args(file: string): string[];
}

const PROXIES: readonly Proxy[] = [
  {
    name: "nginx",
    program: "/usr/sbin/nginx",
    config: (port, folder) => `daemon off; pid ${folder}/nginx.pid; error_log stderr crit; events {}
      http { access_log off; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        upstream weir { server 127.0.0.1:${gateway.port}; keepalive 2; }
        server { listen 127.0.0.1:${port}; underscores_in_headers on;
          location / { proxy_pass http://weir; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header x-via nginx; proxy_request_buffering off; } } }`,
    args: (file) => ["-c", file],
  },
  {
    name: "HAProxy",
    program: "/usr/sbin/haproxy",
    config: (port) => `defaults
  mode http
  timeout connect 2s
  timeout client 5s
  timeout server 5s
frontend in
  bind 127.0.0.1:${port}
  http-request set-header x-via haproxy
  default_backend weir
backend weir
  http-reuse always
  server weir 127.0.0.1:${gateway.port}
`,
    args: (file) => ["-db", "-f", file],
  },
];

for (const proxy of PROXIES.filter(({ program }) => LISTING || existsSync(program)))
  goal(
    24,
    `smuggling corpus, behind ${proxy.name}`,
    "≥ 80 vectors: 0 calls the proxy does not know of, every victim gets its own answer",
    () => behind(proxy),
    600_000,
  );

for (const { name, program } of PROXIES.filter(({ program }) => !existsSync(program)))
  console.log(`${name} is not installed at ${program}: the corpus is not sent through it.`);

async function behind(proxy: Proxy) {
  const folder = mkdtempSync(join(tmpdir(), "weir-proxy-"));
  const port = freePort();
  const file = join(folder, "proxy.conf");
  writeFileSync(file, proxy.config(port, folder));
  const child = Bun.spawn([proxy.program, ...proxy.args(file)], {
    cwd: folder,
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    await untilOpen(port);
    const tag = proxy.name.toLowerCase();
    const vectors = ambiguous({ path: PATH, headers: HEADERS }, (index) => `witness/${tag}-${index}`);
    const wrong: string[] = [];
    const send = async (at: number) => {
      const { why, bytes } = vectors[at]!;
      await exchangeRaw(port, bytes(good(`${tag}-smuggled-${at}`)), { quietMs: 30 });
      const victim = await exchangeRaw(port, good(`${tag}-victim-${at}`, ["connection: close"]));
      const own = victim.statuses.length === 1 && victim.text.includes(`for ${tag}-victim-${at}`);
      if (!own) wrong.push(`the victim of ${JSON.stringify(why)} got ${victim.text.slice(0, 200)}`);
    };
    for (let at = 0; at < vectors.length; at += 10)
      await Promise.all(vectors.slice(at, at + 10).map((_, index) => send(at + index)));
    const calls = await witnessed(tag);
    const unknown = calls.filter((line) => line.includes(" nobody "));
    for (const sentence of [...wrong, ...unknown].slice(0, 10)) console.log(sentence);
    const passed = calls.filter((line) => !line.includes("victim")).length;
    return {
      measured: `${vectors.length} vectors and as many victims: ${unknown.length} calls ${proxy.name} does not know of, ${wrong.length} victims with another's answer; ${passed} requests the proxy made lawful`,
      holds: unknown.length === 0 && wrong.length === 0 && calls.length >= vectors.length,
    };
  } finally {
    child.kill("SIGTERM");
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

async function untilOpen(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { statuses } = await exchangeRaw(
      port,
      "GET /health HTTP/1.1\r\nHost: localhost\r\nconnection: close\r\n\r\n",
    );
    if (statuses[0] === 200) return;
    await Bun.sleep(50);
  }
  throw new Error(`The proxy does not answer on port ${port}.`);
}
