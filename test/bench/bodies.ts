/** Requests as a coding agent sends them: instructions, tools, many messages with line breaks, quotes and other letters. */

const CODE = [
  "export function add(a: number, b: number): number {",
  '  // adds "two" numbers, précisément',
  "  const sum = a + b;",
  '  if (!Number.isFinite(sum)) throw new Error("not finite: " + sum);',
  "  return sum;",
  "}",
  "",
].join("\n");

const PROSE =
  "The tests say what the code is meant to do, so they are read first; then the file they speak of, and what imports it. ";

const TOOLS = ["read_file", "write_file", "list_folder", "search", "run"].map((name) => ({
  type: "function",
  function: {
    name,
    description: PROSE.repeat(3),
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Where it is, from the root of the project." },
        limit: { type: "integer", description: "Most lines to give." },
      },
      required: ["path"],
    },
  },
}));

export interface BodyOptions {
  model: string;
  stream: boolean;
  /** About how many bytes; at least what one message takes. */
  bytes: number;
}

/** A chat-completions request. */
export function agentBody({ model, stream, bytes }: BodyOptions): string {
  const messages: unknown[] = [{ role: "system", content: PROSE }];
  const write = () =>
    JSON.stringify({ model, stream, max_tokens: 1000, messages, tools: bytes > 8_000 ? TOOLS : undefined });
  let length = write().length;
  const add = (message: unknown) => {
    messages.push(message);
    length += JSON.stringify(message).length + 1;
  };
  for (let turn = 0; length < bytes; turn++) {
    add({ role: "user", content: [{ type: "text", text: PROSE.repeat(2 + (turn % 5)) }] });
    if (length >= bytes) break;
    const call = {
      name: "read_file",
      arguments: JSON.stringify({ path: `src/file-${turn}.ts`, limit: 200 }),
    };
    add({
      role: "assistant",
      content: "I read it.",
      tool_calls: [{ id: `call_${turn}`, type: "function", function: call }],
    });
    add({ role: "tool", tool_call_id: `call_${turn}`, content: CODE.repeat(1 + (turn % 9)) });
  }
  return write();
}

/** A messages request of about a kilobyte. */
export function messagesBody({ model, stream }: Pick<BodyOptions, "model" | "stream">): string {
  const messages = [{ role: "user", content: [{ type: "text", text: PROSE.repeat(6) }] }];
  return JSON.stringify({ model, stream, max_tokens: 1000, system: PROSE, messages });
}
