/** Hosts and paths in every spelling: the same route as a URL reader would say, and none of them past the key. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway } from "../helpers/gateway.ts";
import { exchangeRaw, KEY, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startBinary({ config: { keys: [`tester:${KEY}`], names: NAMES } });
}, 600_000);

afterAll(() => gateway?.stop());

/** Every name among the hosts; addresses need no entry. */
const NAMES = ["a", "ab", "abc", "abcd", "a.b", "example.com", "a-b", "a_b", "xn--bcher-kva.example"];

const HOSTS = [
  "a",
  "ab",
  "abc",
  "abcd",
  "a.b",
  "localhost",
  "localhost:80",
  "127.0.0.1",
  "127.0.0.1:9347",
  "[::1]",
  "[::1]:80",
  "example.com",
  "EXAMPLE.com",
  "example.com.",
  "example.com:0",
  "example.com:65535",
  "example.com:99999",
  "a-b",
  "a_b",
  "xn--bcher-kva.example",
  "1",
  "0",
  "0x7f.1",
  "127.1",
  "a/health",
  "a/health?",
  "a?",
  "a#",
  "a@b",
  "user:pw@a",
  "a b",
  "a,b",
  "a;b",
  "a\\b",
  "[::1",
  "::1",
  "a:b",
  "a:",
  ":80",
  "",
];

const PATHS = [
  "/health",
  "/v1/models",
  "/openapi.json",
  "//health",
  "//v1/models",
  "/v1//models",
  "/v1/models/",
  "/./v1/models",
  "/x/../v1/models",
  "/x/%2e%2e/v1/models",
  "/v1/%6dodels",
  "/V1/models",
  "/v1/models;x",
  "/v1/models%00",
  "/v1/models%2f..",
  "/v1/models?x=/health",
  "/v1/models#/health",
  "/health/../v1/models",
  "/health/..%2fv1/models",
  "/health%2f..%2fv1/models",
  "/health/",
  "/health%20",
  "/%68ealth",
  "/v1/models/..;/health",
  "/v1/models\\..\\health",
  "/v1/models/%ff",
  "/v1/models/mock/echo",
  "/v1/models/%2e%2e%2fhealth",
  "/health?/v1/models",
  "/.%2e/health",
];

/** What a route answers without a key and with one. */
function expected(pathname: string): { open: number[]; keyed: number[] } {
  if (pathname === "/health") return { open: [200], keyed: [200] };
  if (pathname === "/v1/models" || pathname === "/openapi.json") return { open: [401], keyed: [200] };
  if (pathname.startsWith("/v1/models/")) return { open: [401], keyed: [200, 404] };
  return { open: [404], keyed: [404] };
}

/** The path a URL reader sees; undefined for what it refuses. */
function pathnameOf(host: string, path: string): string | undefined {
  const written = `http://${host}${path}`;
  return URL.canParse(written) ? new URL(written).pathname : undefined;
}

async function statusOf(host: string, path: string, keyed: boolean): Promise<number | undefined> {
  const key = keyed ? `x-api-key: ${KEY}\r\n` : "";
  const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${key}connection: close\r\n\r\n`;
  return (await exchangeRaw(gateway.port, request)).statuses[0];
}

goal(
  25,
  "host and path confusion",
  "40 Host × 30 path forms, with and without a key: 0 past the key, the same route as new URL says",
  async () => {
    const wrong: string[] = [];
    let refused = 0;
    const look = async (host: string, path: string) => {
      const [open, keyed] = await Promise.all([statusOf(host, path, false), statusOf(host, path, true)]);
      if (open === 400 && keyed === 400) return void refused++;
      const pathname = pathnameOf(host, path);
      const want = pathname === undefined ? { open: [400], keyed: [400] } : expected(pathname);
      if (!want.open.includes(open ?? 0) || !want.keyed.includes(keyed ?? 0))
        wrong.push(`Host ${JSON.stringify(host)}, ${path}: ${open} and ${keyed}, but it is ${pathname}`);
    };
    for (const host of HOSTS) await Promise.all(PATHS.map((path) => look(host, path)));
    for (const sentence of wrong.slice(0, 12)) console.log(sentence);
    return {
      measured: `${HOSTS.length} × ${PATHS.length} × 2 requests: ${wrong.length} wrong; ${refused} pairs refused with 400`,
      holds:
        wrong.length === 0 &&
        HOSTS.length >= 40 &&
        PATHS.length >= 30 &&
        refused < (HOSTS.length * PATHS.length) / 2,
    };
  },
);

test("an odd Host does not choose the route of a POST either", async () => {
  const body = JSON.stringify({
    model: "mock/echo",
    max_tokens: 9,
    messages: [{ role: "user", content: "hi" }],
  });
  for (const host of ["a", "ab", "abc", "a.b", "[::1]"])
    for (const path of [
      "/v1/messages",
      "/v1/chat/completions",
      "/x/v1/messages",
      "/v1/messagesx",
      "/zz/messages",
    ]) {
      const head = [
        `POST ${path} HTTP/1.1`,
        `Host: ${host}`,
        "content-type: application/json",
        "connection: close",
        `content-length: ${body.length}`,
      ];
      const { statuses } = await exchangeRaw(gateway.port, `${head.join("\r\n")}\r\n\r\n${body}`);
      const known = path === "/v1/messages" || path === "/v1/chat/completions";
      expect([host, path, statuses]).toEqual([host, path, [known ? 401 : 404]]);
    }
});
