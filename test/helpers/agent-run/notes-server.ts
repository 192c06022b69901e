/**
 * A server of tools as a program: `append` writes a line to a file, `read` (which the server marks `readOnlyHint`) gives all
 * lines with the number of this reading.
 *
 *     NOTES=PATH bun notes-server.ts
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly line?: string } };
}

const path = process.env["NOTES"]!;
let readings = 0;

const lines = () => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);
const TOOLS: Record<string, (line: string) => string> = {
  append(line) {
    appendFileSync(path, `${line}\n`);
    return `wrote ${line}`;
  },
  read: () => `reading ${++readings}: ${lines().join(", ")}`,
};
const inputSchema = { type: "object", properties: { line: { type: "string" } } };
const DEFINITIONS = [
  { name: "append", description: "Writes a line", inputSchema },
  { name: "read", description: "Reads all lines", inputSchema, annotations: { readOnlyHint: true } },
];

function resultOf({ method, params }: Message): object | undefined {
  if (method === "initialize")
    return {
      ...{ protocolVersion: "2025-11-25", capabilities: { tools: {} } },
      serverInfo: { name: "notes", version: "1" },
    };
  if (method === "tools/list") return { tools: DEFINITIONS };
  if (method !== "tools/call") return undefined;
  return { content: [{ type: "text", text: TOOLS[params!.name!]!(params!.arguments?.line ?? "") }] };
}

for await (const line of console) {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) continue;
  const result = resultOf(message);
  const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer }));
}
