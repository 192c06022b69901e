/** `weir check` says why a provider cannot serve calls, and what to do about it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SELF_SIGNED } from "../faults/upstream/self-signed.ts";
import { EXPIRED, OTHER_NAME } from "../helpers/wrong-certificates.ts";
import { runCommand } from "../helpers/command.ts";

// Each command is a process of its own, and one of them waits for a host that never answers.
setDefaultTimeout(120_000);

const KEY = "sk-canary-check-4f81b2c09d";

let folder: string;
const ends: (() => unknown)[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-reasons-"));
  writeFileSync(join(folder, "authority.pem"), OTHER_NAME.cert);
});

afterAll(async () => {
  for (const end of ends) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** A host over HTTP/1.1. @returns its origin */
function host(answer: (request: Request) => Response, tls?: { key: string; cert: string }): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer, ...(tls && { tls }) });
  ends.push(() => server.stop(true));
  return `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** `weir check` with the provider openai at a base URL. */
async function check(baseUrl: string, env: Record<string, string> = {}) {
  const all = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: baseUrl, ...env };
  const ran = await runCommand(["check", "--json"], { cwd: folder, env: all });
  expect(ran.out + ran.err).not.toContain(KEY);
  const report = JSON.parse(ran.out) as {
    ok: boolean;
    faults: string[];
    providers: { name: string; verdict: string; proxy?: string }[];
  };
  const openai = report.providers.find(({ name }) => name === "openai");
  return {
    code: ran.code,
    verdict: openai?.verdict,
    proxy: openai?.proxy,
    fault: report.faults[0] ?? "",
    err: ran.err,
  };
}

const json = (status: number, body: unknown = { error: { message: "no" } }) =>
  Response.json(body, { status });

/** A path of a chat-completions host whose base URL ends in `/v1`, which wants a key. */
const wellBehaved = (request: Request) =>
  new URL(request.url).pathname === "/v1/chat/completions"
    ? json(400, { error: { message: "you must provide a model parameter" } })
    : json(404, { detail: "Not Found" });

test("a host that works is reachable", async () => {
  expect(await check(`${host(wellBehaved)}/v1`)).toMatchObject({
    code: 0,
    verdict: "reachable",
    fault: "",
    err: "",
  });
});

test("DNS: a name that does not resolve", async () => {
  // A label may have 63 letters, so that this name is refused without a question to any server.
  const found = await check(`http://${"a".repeat(64)}.test/v1`);
  expect(found).toMatchObject({ code: 1, verdict: "unreachable" });
  expect(found.fault).toContain("has an address that does not resolve; check the host name in its base URL");
});

test("a connection that is refused", async () => {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  const found = await check(`http://127.0.0.1:${port}/v1`);
  expect(found).toMatchObject({ code: 1, verdict: "unreachable" });
  expect(found.fault).toContain(
    `openai at http://127.0.0.1:${port}/v1 refused the connection; check that the server is running`,
  );
});

test("a host that never answers", async () => {
  const port = await listening(createServer(() => {}));
  const found = await check(`http://127.0.0.1:${port}/v1`);
  expect(found).toMatchObject({ code: 1, verdict: "unreachable" });
  expect(found.fault).toContain("did not answer within 3 s");
});

test("TLS: an unknown authority, an expired certificate, one for another name, and no TLS at all", async () => {
  const untrusted = await check(`${host(wellBehaved, SELF_SIGNED)}/v1`);
  expect(untrusted.fault).toContain(
    "no trusted authority vouches for its certificate; set NODE_EXTRA_CA_CERTS",
  );
  const expired = await check(`${host(wellBehaved, EXPIRED)}/v1`);
  expect(expired.fault).toContain("its certificate has expired or is not valid yet; check the clock");
  const env = { NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") };
  const other = await check(`${host(wellBehaved, OTHER_NAME)}/v1`, env);
  expect(other.fault).toContain("its certificate is for another name; use the host name");
  const plain = await check(`${host(wellBehaved).replace("http:", "https:")}/v1`);
  expect(plain.fault).toContain("failed the TLS check; check that the server speaks TLS at that port");
  for (const { code, verdict } of [untrusted, expired, other, plain])
    expect([code, verdict]).toEqual([1, "unreachable"]);
});

test("a host that speaks HTTP/2 only is not one that refuses the credential", async () => {
  const server = createSecureServer({ key: OTHER_NAME.key, cert: OTHER_NAME.cert, allowHTTP1: false });
  const port = await listening(server as unknown as Server);
  // A name that the certificate is for would have to resolve; the handshake fails before it is looked at.
  const found = await check(`https://127.0.0.1:${port}/v1`);
  expect(found.verdict).toBe("unreachable");
  expect(found.fault).toContain("speaks HTTP/2 only");
  // What Node's server says to a client that does not negotiate.
  const words = "Missing ALPN Protocol, expected `h2` to be available.";
  const old = await check(`${host(() => new Response(words, { status: 403 }))}/v1`);
  expect(old.fault).toContain("speaks HTTP/2 only");
});

test("a wrong base URL: 404, a web page or a redirect, with the one that is meant where it is near", async () => {
  const origin = host(wellBehaved);
  const without = await check(origin);
  expect(without).toMatchObject({ code: 1, verdict: "wrong address" });
  expect(without.fault).toContain(
    `has no such path (status 404): its base URL is probably wrong; did you mean ${origin}/v1?`,
  );
  const far = await check(`${origin}/some/where`);
  expect(far.fault).toEndWith("its base URL is probably wrong.");
  const page = () =>
    new Response("<!doctype html><title>Welcome</title>", { headers: { "content-type": "text/html" } });
  expect(await check(host(page))).toMatchObject({
    code: 1,
    verdict: "wrong address",
    fault: expect.stringContaining("answers with a web page (status 200): its base URL is wrong"),
  });
  const moved = host(
    () => new Response(null, { status: 301, headers: { location: "https://new.example/?secret=1" } }),
  );
  const redirected = await check(moved);
  expect(redirected.fault).toContain("redirects to https://new.example, and weir follows no redirects");
});

test("a credential that is refused, also with status 400, and one that is missing", async () => {
  const refused = await check(
    host(() => json(401, { error: { message: `Incorrect API key provided: ${KEY}` } })),
  );
  expect(refused).toMatchObject({ code: 1, verdict: "unauthorised" });
  expect(refused.fault).toContain("refuses its API key (status 401)");
  const words = { code: "invalid argument", error: "Incorrect API key provided: sk***." };
  expect((await check(host(() => json(400, words)))).fault).toContain("refuses its API key (status 400)");
  const wanted = host(() => json(401));
  const env = { OPENAI_API_KEY: "", VLLM_BASE_URL: `${wanted}/v1` };
  expect((await check("", env)).fault).toContain("requires an API key; set VLLM_API_KEY");
});

test("the proxy in use is named, without its credentials", async () => {
  const proxy = host(() => json(400, { error: { message: "a model is required" } }));
  const env = { HTTP_PROXY: proxy.replace("http://", "http://user:proxy-canary@") };
  const found = await check("http://far.example/v1", env);
  expect(found).toMatchObject({ code: 0, verdict: "reachable", proxy });
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  const dead = await runCommand(["check"], {
    cwd: folder,
    env: {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: "http://far.example/v1",
      http_proxy: `http://user:proxy-canary@127.0.0.1:${port}`,
    },
  });
  expect(dead.out).toContain(`through the proxy http://127.0.0.1:${port}`);
  expect(dead.err).toContain(`openai at http://far.example/v1 through the proxy http://127.0.0.1:${port} `);
  expect(dead.out + dead.err).not.toContain("proxy-canary");
});
