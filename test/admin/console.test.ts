/** The console's files: who gets them, and under which policy. */
import { expect, test } from "bun:test";
import { consoleAnswer } from "../../src/admin/console/files.ts";
import { fakeAdmin } from "../helpers/admin.ts";

const { send } = fakeAdmin();

async function text(path: string): Promise<{ status: number; headers: Headers; body: string }> {
  const response = await consoleAnswer(new Request(`http://127.0.0.1:9348${path}`), path);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

const document = await text("/console");
const addresses = [...document.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);

test("every path of the console is the same document, which is never kept", async () => {
  expect(document.headers.get("cache-control")).toBe("no-store");
  for (const path of ["/console/", "/console/calls", "/console/calls/req_1.2", "/console/keys/a/b"])
    expect((await text(path)).body).toBe(document.body);
});

test("the document names only files of the console, which may be kept, and nothing of it is inline", async () => {
  expect(addresses.length).toBeGreaterThanOrEqual(3);
  for (const address of addresses) {
    expect(address).toMatch(/^\/console\/[\w-]+\.(js|css|svg)$/);
    expect((await text(address)).headers.get("cache-control")).toContain("immutable");
  }
  expect(document.body).not.toMatch(/<style|style=|<script(?! type="module" crossorigin src=)/);
});

test("files of another version are not found", async () => {
  expect((await text("/console/index-00000000.js")).status).toBe(404);
});

test("the policy allows nothing but this listener", () => {
  const policy = document.headers.get("content-security-policy")!;
  expect(policy).toStartWith("default-src 'none'; ");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(document.headers.get("referrer-policy")).toBe("no-referrer");
});

test("the console needs no key, and a link on another page may open it", async () => {
  const given = await send("GET", "/console/calls", {
    key: null,
    headers: { "sec-fetch-site": "cross-site" },
  });
  expect(given.status).toBe(200);
});

test("the console is not served for a foreign host name, and cannot be written to", async () => {
  expect((await send("GET", "/console", { headers: { host: "evil.example" } })).status).toBe(403);
  expect((await send("POST", "/console")).status).toBe(405);
});

test.each([
  ["gzip, deflate, br", true],
  ["br, GZIP;q=0.5", true],
  ["gzip;q=0, br", false],
  ["br", false],
] as const)("M21: a client that accepts %s gets packed files: %p", async (accepted, isPacked) => {
  for (const path of ["/console", ...addresses]) {
    const headers = { "accept-encoding": accepted };
    const answer = await consoleAnswer(new Request(`http://127.0.0.1:9348${path}`, { headers }), path);
    expect(answer.headers.get("content-encoding")).toBe(isPacked ? "gzip" : null);
    expect(answer.headers.get("vary")).toBe("accept-encoding");
    const bytes = await answer.bytes();
    const plain = isPacked ? Bun.gunzipSync(bytes) : bytes;
    expect(new TextDecoder().decode(plain)).toBe((await text(path)).body);
  }
});
