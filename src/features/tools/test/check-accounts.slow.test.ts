/** `weir tools check` at servers that want accounts: what is wrong with their authorization servers is said, and is a fault. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";
import { FakeAuthority, FakeGuarded } from "../../../../test/helpers/guarded-server.ts";

setDefaultTimeout(60_000);

let authority: FakeAuthority;
let guarded: FakeGuarded;
let folder: string;

beforeEach(() => {
  authority = new FakeAuthority();
  guarded = new FakeGuarded(authority);
  folder = mkdtempSync(join(tmpdir(), "weir-check-accounts-"));
});
afterEach(async () => {
  await Promise.all([authority.stop(), guarded.stop()]);
  rmSync(folder, { recursive: true });
});

/** @param auth how weir proves who it is @param hosts of authorization servers on this machine */
async function check(auth: object = { user: {} }, hosts: readonly string[] = [authority.host]) {
  const servers = { files: { url: guarded.url, allow: ["*"], auth } };
  const config = { tools: { url: "https://weir.corp.example", hosts, servers } };
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify(config));
  return runCommand(["tools", "check"], { cwd: folder });
}

test("where accounts can be connected that is said, it is no fault, and the command ends", async () => {
  const began = performance.now();
  const { code, out, err } = await check();
  // The server keeps a connection for ten seconds.
  expect(performance.now() - began).toBeLessThan(9_000);
  expect(err).toBe("");
  expect(out).toBe("files  ok  each caller connects an account of its own there first\n");
  expect(code).toBe(0);
  // No user was asked for a token, and weir has not registered for a check.
  expect([authority.asked, authority.registered]).toEqual([[], []]);
});

const nowhere = "http://169.254.169.254";
test.each<[string, RegExp, () => void]>([
  [
    "another issuer",
    /^files +failed +the metadata of http:\S+ has another issuer: https:\/\/evil\.example$/,
    () => (authority.metadata = { issuer: "https://evil.example" }),
  ],
  [
    "no code_challenge_methods_supported",
    /^files +failed +the authorization server http:\S+ does not say that it takes PKCE with S256$/,
    () => (authority.metadata = { code_challenge_methods_supported: undefined }),
  ],
  [
    "a file as authorization_endpoint",
    /^files +failed +the authorization_endpoint file:\/\/\/bin\/sh is no address of the web$/,
    () => (authority.metadata = { authorization_endpoint: "file:///bin/sh" }),
  ],
  [
    "a redirect to a private address",
    /^files +failed +http:\S+ redirects to another origin$/,
    () => (authority.reply = () => Response.redirect(`${nowhere}/latest/meta-data`)),
  ],
  [
    "a private address as issuer",
    /^files +failed +https:\S+ 169\.254\.169\.254 has an address that is not public$/,
    () => (guarded.document = { authorization_servers: [nowhere.replace("http:", "https:")] }),
  ],
  [
    "no way for weir to be known",
    /^files +failed +the authorization server http:\S+ neither reads documents of clients nor registers them/,
    () => (authority.metadata = { registration_endpoint: undefined }),
  ],
])("an authorization server with %s is a fault", async (_, line, change) => {
  change();
  const { code, out } = await check();
  expect(out.trimEnd()).toMatch(line);
  expect(code).toBe(1);
  expect(authority.asked).toEqual([]);
});

/** The answer of the authorization server to a browser in which no user has signed in. */
function answering(more: Record<string, string>, to?: string): void {
  authority.reply = (url) => {
    if (url.pathname !== "/authorize") return undefined;
    const { searchParams: query } = url;
    expect([query.get("client_id"), query.get("prompt")]).toEqual(["ours", "none"]);
    const back = { error: "login_required", state: query.get("state")!, ...more };
    return Response.redirect(`${to ?? query.get("redirect_uri")}?${new URLSearchParams(back)}`);
  };
}

test.each<[string, number, RegExp, () => void]>([
  [
    "another iss",
    1,
    /^files +failed +the answer is not one of the authorization server http:\S+: it has the iss https:\/\/evil\.example$/,
    () => answering({ iss: "https://evil.example" }),
  ],
  [
    "no iss, though it was promised",
    1,
    /^files +failed +the answer is not one of the authorization server http:\S+: it has no iss$/,
    () => answering({}),
  ],
  ["its iss", 0, /^files +ok +each caller/, () => answering({ iss: authority.url })],
  ["another place", 0, /^files +ok +each caller/, () => answering({}, "https://login.example/page")],
  [
    "a large page",
    0,
    /^files +ok +each caller/,
    () =>
      (authority.reply = ({ pathname }) =>
        pathname === "/authorize" ? new Response("x".repeat(100_000)) : undefined),
  ],
])("an answer with %s", async (_, code, line, change) => {
  change();
  const checked = await check({ user: { client: "ours" } });
  expect(checked.out.trimEnd()).toMatch(line);
  expect(checked.code).toBe(code);
  expect(authority.asked).toEqual([]);
});

test("it is a fault of a server too that lists its tools for strangers, and of what weir gets for itself", async () => {
  authority.metadata = { issuer: "https://evil.example" };
  const server: Bun.Server<undefined> = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request): Promise<Response> {
      const { id, method } = (await request.json().catch(() => ({}))) as { id?: number; method?: string };
      if (new URL(request.url).pathname !== "/mcp")
        return Response.json({ resource: open, authorization_servers: [authority.url] });
      const results: Record<string, object> = {
        initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "o" } },
        "tools/list": { tools: [] },
      };
      const result = results[method ?? ""];
      return Response.json({
        ...{ jsonrpc: "2.0", id },
        ...(result ? { result } : { error: { code: -32601, message: "no" } }),
      });
    },
  });
  const open: string = `http://127.0.0.1:${server.port}/mcp`;
  try {
    const own = guarded;
    guarded = { ...own, url: open, stop: () => own.stop() } as FakeGuarded;
    const { code, out } = await check();
    expect([code, out]).toEqual([1, expect.stringContaining("has another issuer")]);
    guarded = own;
    const ofWeir = await check({ clientCredentials: { client: "weir", secret: "planted-secret" } });
    expect([ofWeir.code, ofWeir.out]).toEqual([1, expect.stringContaining("has another issuer")]);
  } finally {
    await server.stop(true);
  }
});

test("what an authorization server says comes to no terminal as it is", async () => {
  authority.metadata = { issuer: "\u001b]0;owned\u0007\u202eevil" };
  const { out } = await check();
  expect(out).toContain("has another issuer: ");
  expect(out).not.toMatch(/[\u001b\u0007\u202e]/);
});
