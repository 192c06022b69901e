/** Requests through a proxy that the environment names. */
import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { createTransport, HttpError, proxyFor } from "../../src/http/index.ts";
import { portOf } from "../helpers/stray.ts";

let server: Server | undefined;

afterEach(() => void server?.close());

/** Answers each request with the number of its connection. */
async function startProxy(): Promise<string> {
  let connections = 0;
  server = createServer((socket) => {
    const number = String(++connections);
    socket.on("error", () => {});
    socket.on("data", () => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${number}`));
  });
  return `http://127.0.0.1:${await portOf(server)}`;
}

type Environment = Record<string, string>;

const PROXY = "http://proxy.test:3128";

test.each<[why: string, url: string, env: Environment, proxy: string | undefined]>([
  ["none", "https://a.test/", {}, undefined],
  ["of its scheme", "https://a.test/", { HTTPS_PROXY: PROXY }, PROXY],
  ["of another scheme", "http://a.test/", { HTTPS_PROXY: PROXY }, undefined],
  ["of all schemes", "https://a.test/", { ALL_PROXY: PROXY }, PROXY],
  ["in lower case", "http://a.test/", { all_proxy: PROXY }, PROXY],
  ["of its scheme before all", "https://a.test/", { https_proxy: PROXY, ALL_PROXY: "http://b.test" }, PROXY],
  ["without a scheme", "https://a.test/", { ALL_PROXY: "proxy.test:3128" }, PROXY],
  ["empty", "https://a.test/", { ALL_PROXY: "" }, undefined],
  ["NO_PROXY: the host", "https://a.test/", { ALL_PROXY: PROXY, NO_PROXY: "b.test, a.test" }, undefined],
  ["NO_PROXY: its domain", "https://x.a.test/", { ALL_PROXY: PROXY, no_proxy: ".a.test" }, undefined],
  [
    "NO_PROXY: another name with its end",
    "https://xa.test/",
    { ALL_PROXY: PROXY, NO_PROXY: "a.test" },
    PROXY,
  ],
  ["NO_PROXY: all", "https://a.test/", { ALL_PROXY: PROXY, NO_PROXY: "*" }, undefined],
  ["NO_PROXY: its port", "http://a.test:81/", { ALL_PROXY: PROXY, NO_PROXY: "a.test:81" }, undefined],
  ["NO_PROXY: another port", "http://a.test:82/", { ALL_PROXY: PROXY, NO_PROXY: "a.test:81" }, PROXY],
  ["NO_PROXY: IPv6", "http://[::1]:82/", { ALL_PROXY: PROXY, NO_PROXY: "[::1]" }, undefined],
])("the proxy of a URL, from variables: %s", (_why, url, env, proxy) => {
  expect(proxyFor(url, env)).toBe(proxy);
});

const stop = new AbortController().signal;

async function connectionOf(transport: ReturnType<typeof createTransport>, pool: string): Promise<string> {
  const request = { url: "http://upstream.test/", headers: {}, body: [Buffer.from("x")], stop, pool };
  const bytes = await (await transport(request)).bytes();
  await Bun.sleep(50);
  return Buffer.from(bytes).toString();
}

test("ALL_PROXY carries the requests, and its connections are not reused between gateway keys", async () => {
  const transport = createTransport({ ALL_PROXY: await startProxy() });
  const used: string[] = [];
  for (const pool of ["a", "a", "b", "b", "c", "a"]) used.push(await connectionOf(transport, pool));
  const [first, second, ...others] = used;
  expect(second).toBe(first!);
  expect(others.pop()).toBe(first!);
  expect(new Set([first, ...others]).size).toBe(4);
});

test("a proxy of another kind is refused with a sentence", async () => {
  const transport = createTransport({ ALL_PROXY: "socks5://127.0.0.1:1080" });
  const refused = await connectionOf(transport, "a").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(HttpError);
  expect((refused as HttpError).reason).toBe("proxy");
  expect((refused as HttpError).sent).toBe(false);
});
