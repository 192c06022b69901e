// @modelcontextprotocol/server and client 2.x, both eras. `serve PORT FILE` or `call URL MARK`; test/clients/README.md says what they do.
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  isLegacyRequest,
  McpServer,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { checkAll } from "./checks.mjs";

const text = (words) => ({ content: [{ type: "text", text: words }] });

function makeServer(cancelled) {
  const server = new McpServer({ name: "sdk-2", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text: said }) =>
    text(`echo: ${said}`),
  );
  server.registerTool("fail", { inputSchema: z.object({}) }, () => {
    throw new Error("it failed");
  });
  server.registerTool("count", { inputSchema: z.object({ to: z.number() }) }, async ({ to }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= to; progress += 1)
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: to },
      });
    return text("counted");
  });
  server.registerTool("ask", { inputSchema: z.object({}) }, (_args, { mcpReq }) => {
    const schema = z.object({ name: z.string() });
    const answer = acceptedContent(mcpReq.inputResponses, "who", schema);
    if (answer) return text(`hello ${answer.name}`);
    const who = inputRequired.elicit({ message: "Who are you?", requestedSchema: schema });
    return inputRequired({ inputRequests: { who } });
  });
  server.registerTool("slow", { inputSchema: z.object({ mark: z.string() }) }, ({ mark }, { mcpReq }) => {
    const { promise, resolve } = Promise.withResolvers();
    const timer = setTimeout(() => resolve(text("slept")), 30_000);
    mcpReq.signal.addEventListener("abort", () => {
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
  const modern = toNodeHandler(createMcpHandler(() => makeServer(cancelled), { legacy: "reject" }));
  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    if (!(await isLegacyRequest(await toWebRequest(request, body)))) return modern(request, response, body);
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (session) => sessions.set(session, transport),
      });
      await makeServer(cancelled).connect(transport);
    }
    await transport.handleRequest(request, response, body);
  }).listen(port, "127.0.0.1", () => console.log("listening"));
}

async function call(url, mark) {
  const client = new Client(
    { name: "sdk-2", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Anna" } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  console.log(JSON.stringify({ version: client.getNegotiatedProtocolVersion() }));
  await checkAll(mark, {
    list: () => client.listTools(),
    call: (name, args, { signal, onprogress } = {}) =>
      client.callTool({ name, arguments: args }, { signal, onprogress }),
  });
  await client.close();
  process.exit(0);
}

const [mode, first, second] = process.argv.slice(2);
if (mode === "serve") serve(Number(first), second);
else await call(first, second);
