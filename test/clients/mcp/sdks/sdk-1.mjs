// @modelcontextprotocol/sdk 1.x, revisions with sessions. `serve PORT FILE` or `call URL MARK`; test/clients/README.md says what they do.
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ElicitRequestSchema, isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { checkAll } from "./checks.mjs";

const text = (words) => ({ content: [{ type: "text", text: words }] });

function makeServer(cancelled) {
  const server = new McpServer({ name: "sdk-1", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: { text: z.string() } }, ({ text: said }) =>
    text(`echo: ${said}`),
  );
  server.registerTool("fail", { inputSchema: {} }, () => {
    throw new Error("it failed");
  });
  server.registerTool("count", { inputSchema: { to: z.number() } }, async ({ to }, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let progress = 1; progress <= to; progress += 1)
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress, total: to },
      });
    return text("counted");
  });
  server.registerTool("ask", { inputSchema: {} }, async (_args, extra) => {
    const answer = await server.server.elicitInput(
      {
        message: "Who are you?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
      { relatedRequestId: extra.requestId },
    );
    return text(`hello ${answer.content?.name}`);
  });
  server.registerTool("slow", { inputSchema: { mark: z.string() } }, ({ mark }, { signal }) => {
    const { promise, resolve } = Promise.withResolvers();
    const timer = setTimeout(() => resolve(text("slept")), 30_000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      appendFileSync(cancelled, `${mark} ${Date.now()}\n`);
      resolve(text("cancelled"));
    });
    return promise;
  });
  return server;
}

function serve(port, cancelled) {
  const sessions = new Map();
  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    const id = request.headers["mcp-session-id"];
    let transport = sessions.get(id);
    if (!transport && isInitializeRequest(body)) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (session) => sessions.set(session, transport),
      });
      await makeServer(cancelled).connect(transport);
    }
    if (transport) await transport.handleRequest(request, response, body);
    else
      response
        .writeHead(id ? 404 : 400, { "content-type": "application/json" })
        .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}');
  }).listen(port, "127.0.0.1", () => console.log("listening"));
}

async function call(url, mark) {
  const client = new Client({ name: "sdk-1", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Anna" } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await checkAll(mark, {
    list: () => client.listTools(),
    call: (name, args, { signal, onprogress } = {}) =>
      client.callTool({ name, arguments: args }, undefined, { signal, onprogress }),
  });
  await client.close();
  process.exit(0);
}

const [mode, first, second] = process.argv.slice(2);
if (mode === "serve") serve(Number(first), second);
else await call(first, second);
