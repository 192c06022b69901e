/**
 * A scripted agent that knows nothing of weir but two addresses: it asks a model with a vendor's SDK, and calls tools with the
 * official client of MCP until the model answers without them.
 *
 *     bun agent.ts SDK MODEL SERVER TASK
 *
 * SDK: openai or anthropic. SERVER: name of a server, or `-` for all of them.
 */
import Anthropic from "@anthropic-ai/sdk";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import OpenAI from "openai";

const [sdk = "openai", model = "fake/m", server = "notes", task = "Write notes."] = process.argv.slice(2);
const url = process.env["WEIR_URL"]!;
const mcp = new Client({ name: "scripted", version: "1" });
const path = server === "-" ? "/mcp" : `/mcp/${server}`;
await mcp.connect(new StreamableHTTPClientTransport(new URL(url + path)));
const { tools } = await mcp.listTools();

/** @returns the text of the result, or of the error */
async function callTool(name: string, args: Record<string, unknown>): Promise<string> {
  try {
    const { content } = await mcp.callTool({ name, arguments: args });
    return (content as { text?: string }[]).map(({ text }) => text ?? "").join("\n");
  } catch (thrown) {
    return `ERROR ${(thrown as Error).message}`;
  }
}

async function withOpenai(): Promise<string> {
  const client = new OpenAI({ maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: task }];
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: "function" as const,
    function: { name, parameters: inputSchema, ...(description !== undefined && { description }) },
  }));
  for (;;) {
    const stream = client.chat.completions.stream({ model, messages, tools: functions });
    const { message } = (await stream.finalChatCompletion()).choices[0]!;
    messages.push(message);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return message.content ?? "";
    for (const call of calls) {
      if (call.type !== "function") continue;
      const args = JSON.parse(call.function.arguments) as Record<string, unknown>;
      const content = await callTool(call.function.name, args);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
}

async function withAnthropic(): Promise<string> {
  const client = new Anthropic({ maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: task }];
  const declared = tools.map(({ name, description, inputSchema }) => ({
    ...{ name, input_schema: inputSchema as Anthropic.Tool.InputSchema },
    ...(description !== undefined && { description }),
  }));
  for (;;) {
    const asked = { model, max_tokens: 500, messages, tools: declared };
    const { content } = await client.messages.stream(asked).finalMessage();
    messages.push({ role: "assistant", content });
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const block of content)
      if (block.type === "tool_use") {
        const text = await callTool(block.name, block.input as Record<string, unknown>);
        results.push({ type: "tool_result", tool_use_id: block.id, content: text });
      }
    if (results.length === 0)
      return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    messages.push({ role: "user", content: results });
  }
}

console.log(`SAID ${await (sdk === "openai" ? withOpenai() : withAnthropic())}`);
await mcp.close();
