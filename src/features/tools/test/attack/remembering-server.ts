/**
 * A program whose tools remember: `remember` writes a line, `recall` tells all, `crash` ends the program without an answer.
 *
 *     FACTS=PATH bun remembering-server.ts
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly said?: string } };
}

const path = process.env["FACTS"]!;
/** What this process was told: what the next one of the same file does not know. */
const own: string[] = [];

const TOOLS: Record<string, (said: string) => string> = {
  remember(said) {
    own.push(said);
    appendFileSync(path, `${said}\n`);
    return said;
  },
  recall: () => JSON.stringify({ own, kept: existsSync(path) ? readFileSync(path, "utf8").split("\n") : [] }),
  crash: () => process.exit(1),
  pid: () => String(process.pid),
};

function resultOf({ method, params }: Message): object | undefined {
  if (method === "initialize")
    return {
      ...{ protocolVersion: "2025-11-25", capabilities: { tools: {} } },
      serverInfo: { name: "remembering", version: "1" },
    };
  if (method === "tools/list")
    return { tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: "object" } })) };
  if (method !== "tools/call") return undefined;
  const text = TOOLS[params!.name!]!(params!.arguments?.said ?? "");
  return { content: [{ type: "text", text }] };
}

for await (const line of console) {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) continue;
  const result = resultOf(message);
  const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer }));
}
