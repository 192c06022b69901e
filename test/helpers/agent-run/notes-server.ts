/**
 * A server of tools as a program: `append` writes a line to a file, `read` (which the server marks `readOnlyHint`) gives all
 * lines with the number of this reading, `count` reports progress, `ask` asks the client for a name.
 *
 *     NOTES=PATH bun notes-server.ts
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly line?: string };
    readonly _meta?: { readonly progressToken?: string | number };
  };
  readonly result?: { readonly content?: { readonly name?: string } };
}

const path = process.env["NOTES"]!;
let readings = 0;

const lines = () => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);
const send = (message: object) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
/** Ids of calls by those of the questions that they ask. */
const asking = new Map<string, Message["id"]>();
const TOOLS: Record<string, (line: string) => string> = {
  append(line) {
    appendFileSync(path, `${line}\n`);
    return `wrote ${line}`;
  },
  count: () => "counted",
  read: () => `reading ${++readings}: ${lines().join(", ")}`,
};
const inputSchema = { type: "object", properties: { line: { type: "string" } } };
const DEFINITIONS = [
  { name: "append", description: "Writes a line", inputSchema },
  { name: "count", description: "Counts to three", inputSchema },
  { name: "ask", description: "Asks for a name", inputSchema },
  { name: "read", description: "Reads all lines", inputSchema, annotations: { readOnlyHint: true } },
];

const text = (words: string) => ({ content: [{ type: "text", text: words }] });

function resultOf({ method }: Message): object | undefined {
  if (method === "initialize")
    return {
      ...{ protocolVersion: "2025-11-25", capabilities: { tools: {} } },
      serverInfo: { name: "notes", version: "1" },
    };
  return method === "tools/list" ? { tools: DEFINITIONS } : undefined;
}

/** @returns the result; undefined: it comes later */
function called({ id, params }: Message): object | undefined {
  if (params!.name === "ask") {
    asking.set(`q${id}`, id);
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
    const asked = { message: "Who are you?", requestedSchema };
    send({ id: `q${id}`, method: "elicitation/create", params: asked });
    return undefined;
  }
  const progressToken = params!._meta?.progressToken;
  if (params!.name === "count")
    for (const progress of progressToken === undefined ? [] : [1, 2, 3])
      send({ method: "notifications/progress", params: { progressToken, progress, total: 3 } });
  return text(TOOLS[params!.name!]!(params!.arguments?.line ?? ""));
}

for await (const line of console) {
  const message = JSON.parse(line) as Message;
  const { id, method } = message;
  if (id === undefined) continue;
  if (method === undefined) {
    send({ id: asking.get(String(id)), result: text(`hello ${message.result?.content?.name}`) });
    continue;
  }
  const result = method === "tools/call" ? called(message) : resultOf(message);
  if (result) send({ id, result });
  else if (method !== "tools/call") send({ id, error: { code: -32601, message: "Method not found" } });
}
