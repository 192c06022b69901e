/** `weir tools list|call|pins|approve|logs` against a gateway and an admin API that record what they are asked. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: any;
}

let asked: Asked[] = [];
let answers: Record<string, (body: any, headers: Headers) => Response> = {};
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    const body = text === "" ? undefined : JSON.parse(text);
    asked.push({ method: request.method, path, headers: request.headers, body });
    return answers[path]?.(body, request.headers) ?? new Response("no", { status: 404 });
  },
});
const folder = mkdtempSync(join(tmpdir(), "weir-tools-"));
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  answers = {};
});

const tools = (...words: string[]) =>
  runCommand(["tools", ...words, "--url", `http://127.0.0.1:${server.port}`], {
    cwd: folder,
    env: { WEIR_ADMIN_KEY: "weir-admin", WEIR_API_KEY: "weir-key" },
  });

const SEARCH = {
  ...{ name: "github__search", server: "github", tokens: 120, price: 0.002 },
  description: "Searches.\u202e\nThen more.",
  inputSchema: { type: "object", properties: { where: { type: "string", "x-mcp-header": "Where" } } },
};
const LIST = {
  object: "list",
  data: [SEARCH, { name: "files__rеad", server: "files", tokens: 7, title: "Read", inputSchema: {} }],
  unavailable: [{ server: "mail", reason: "it is down" }],
};
const answered = (result: object) => Response.json({ jsonrpc: "2.0", id: 1, result });

test("the tools of a key are listed with tokens and prices, and what is missing is said", async () => {
  answers["/v1/tools"] = () => Response.json(LIST);
  const { code, out, err } = await tools("list");
  expect(out).toBe(
    [
      "TOOL               TOKENS  PRICE   DESCRIPTION",
      "github__search     120     $0.002  Searches.\\u{202E}",
      "files__r\\u{435}ad  7               Read\n",
    ].join("\n"),
  );
  expect([code, err]).toEqual([0, "weir: the tools of mail are missing: it is down\n"]);
  expect(asked[0]!.headers.get("authorization")).toBe("Bearer weir-key");
  expect(await tools("list", "nothere")).toMatchObject({ code: 1, out: "" });
  expect(await tools("list", "mail")).toMatchObject({ code: 0, out: "no tools\n" });
  const { out: json } = await tools("list", "github", "--json");
  expect(JSON.parse(json).data.map(({ name }: { name: string }) => name)).toEqual(["github__search"]);
}, 120_000);

test("a key that is refused is an error with the gateway's sentence", async () => {
  answers["/v1/tools"] = () =>
    Response.json({ error: { message: "The key is not valid." } }, { status: 401 });
  expect(await tools("list")).toEqual({ code: 1, out: "", err: "weir: The key is not valid\n" });
}, 120_000);

test("a call sends one modern request, and prints the texts of the result with what is invisible", async () => {
  answers["/mcp/files"] = () =>
    answered({
      content: [
        { type: "text", text: "one\u001b[2J\ntwo" },
        { type: "image", mimeType: "image/png", data: "" },
      ],
    });
  const { code, out } = await tools("call", "files", "rеad", '{"path": "/a"}');
  expect([code, out]).toEqual([0, "one\\u{1B}[2J\ntwo\n(image image/png)\n"]);
  const whole = await tools("call", "files__rеad", '{"path": "/b"}');
  expect([whole.code, asked[1]!.body.params]).toMatchObject([0, { name: "rеad", arguments: { path: "/b" } }]);
  expect(await tools("call", "files")).toMatchObject({ code: 2 });
  const { headers, body } = asked[0]!;
  expect(body).toMatchObject({ method: "tools/call", params: { name: "rеad", arguments: { path: "/a" } } });
  expect(body.params._meta["io.modelcontextprotocol/protocolVersion"]).toBe("2026-07-28");
  expect(headers.get("mcp-method")).toBe("tools/call");
  expect(headers.get("mcp-name")).toStartWith("=?base64?");
}, 120_000);

test("a call reads streams, sends arguments as headers where the tool wants them, and exits with 1 for errors", async () => {
  answers["/v1/tools"] = () => Response.json(LIST);
  answers["/mcp/github"] = (body, headers) => {
    if (headers.get("mcp-param-where") !== "here")
      return Response.json({ jsonrpc: "2.0", error: { code: -32020, message: "header" } }, { status: 400 });
    const note = { jsonrpc: "2.0", method: "notifications/progress", params: {} };
    const last = { jsonrpc: "2.0", id: 1, result: { content: [], structuredContent: body.params.arguments } };
    return new Response(
      `: hi\n\ndata: ${JSON.stringify(note)}\n\nevent: message\r\ndata: ${JSON.stringify(last)}\r\n\r\n`,
      {
        headers: { "content-type": "text/event-stream" },
      },
    );
  };
  const { code, out, err } = await tools("call", "github", "search", '{"where":"here"}');
  expect([code, out, err]).toEqual([0, '{"where":"here"}\n', ""]);
  answers["/mcp/github"] = () => answered({ content: [{ type: "text", text: "broken" }], isError: true });
  expect(await tools("call", "github", "search")).toMatchObject({ code: 1, out: "broken\n" });
  answers["/mcp/github"] = () =>
    Response.json({ jsonrpc: "2.0", id: 1, error: { code: -32602, message: "Unknown tool: x" } });
  expect(await tools("call", "github", "x")).toEqual({ code: 1, out: "", err: "weir: Unknown tool: x\n" });
  expect(await tools("call", "github", "x", "[1]")).toMatchObject({ code: 2 });
}, 120_000);

const PINS = {
  ...{ server: "github", digest: "d1" },
  changes: [
    {
      ...{ tool: "search", kind: "changed", since: 1, hash: "a" },
      lines: [
        { sign: " ", text: "description" },
        { sign: "-", text: "  Searches." },
        { sign: "+", text: "  Searches.\\u{200B}" },
      ],
    },
    { tool: "nеw", kind: "new", since: 1, hash: "b", lines: [{ sign: "+", text: "  Sends all." }] },
  ],
};
const SHOWN = `github: changed search
    description
  -   Searches.
  +   Searches.\\u{200B}

github: new n\\u{435}w
  +   Sends all.
`;

test("pins are shown as differences, and approved with what was shown after a yes alone", async () => {
  answers["/admin/v1/tools/servers/github/pins"] = () => Response.json(PINS);
  answers["/admin/v1/tools/servers/github/approve"] = () =>
    Response.json({ server: "github", changes: ["changed search"] });
  expect(await tools("pins", "github")).toEqual({ code: 0, out: SHOWN, err: "" });
  const refused = await tools("approve", "github");
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.err).toBe(`${SHOWN}weir: nothing was approved; --yes approves without a question\n`);
  expect(asked.some(({ method }) => method === "POST")).toBe(false);
  expect(await tools("approve", "github", "--yes")).toMatchObject({
    code: 0,
    out: "approved: changed search\n",
  });
  expect(asked.at(-1)!.body).toEqual({ digest: "d1" });
  await tools("approve", "github", "--yes", "--tool", "search");
  expect(asked.at(-1)!.body).toEqual({ digest: "d1", tools: ["search"] });
  asked = [];
  expect(await tools("approve", "github", "--yes", "--tool", "other")).toMatchObject({
    ...{ code: 0, out: "nothing of github waits for an approval\n" },
  });
  expect(asked.length).toBe(1);
}, 120_000);

test("servers with their pins, and what programs wrote, are printed", async () => {
  const server = { name: "github", state: "up", tools: 3, tokens: 400, waiting: 2, allow: [], only: [] };
  answers["/admin/v1/tools/servers"] = () =>
    Response.json({ servers: [server, { ...server, name: "files", waiting: 0 }] });
  const { out } = await tools("pins");
  expect(out).toBe(
    [
      "SERVER  STATE  TOOLS  TOKENS  WAITING       PIN",
      "github  up     3      400     2 to approve",
      "files   up     3      400\n",
    ].join("\n"),
  );
  answers["/admin/v1/tools/servers/files/logs"] = () =>
    Response.json({ programs: [{ program: "npx alice", text: "started\n\u001b]0;evil\u0007\n" }] });
  expect((await tools("logs", "files")).out).toBe("npx alice:\n  started\n  \\u{1B}]0;evil\\u{7}\n");
}, 120_000);
