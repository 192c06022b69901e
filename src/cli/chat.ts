/** `weir chat [MODEL]`: a streaming chat with the running gateway in the terminal. */
import { isObject, parseJson } from "../core/json.ts";
import { readFrames } from "../stream/sse.ts";
import type { Command, Context } from "./command.ts";

interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

interface Conversation {
  url: string;
  model: string;
  key: string | undefined;
  messages: Message[];
}

export const chat: Command = {
  name: "chat",
  summary: "chat with the running gateway in the terminal",
  words: [{ name: "MODEL", optional: true }],
  flags: [
    { name: "--url", value: "URL", help: "base URL of the gateway (default http://127.0.0.1:9347)" },
    {
      name: "--key",
      value: "KEY",
      help: "gateway key (default WEIR_API_KEY, or the first of WEIR_API_KEYS)",
    },
    { name: "--system", value: "TEXT", help: "system prompt" },
  ],
  async run(context) {
    const { flags, words, env } = context;
    const system = flags["--system"];
    const conversation: Conversation = {
      url: String(flags["--url"] ?? defaultUrl(env)).replace(/\/+$/, ""),
      model: words[0] ?? "mock/chat",
      key: typeof flags["--key"] === "string" ? flags["--key"] : keyOf(env),
      messages: typeof system === "string" ? [{ role: "system", content: system }] : [],
    };
    return converse(conversation, context);
  },
};

function defaultUrl(env: Context["env"]): string {
  const port = /^\d+$/.test(env["WEIR_PORT"] ?? "") ? env["WEIR_PORT"] : "9347";
  return `http://127.0.0.1:${port}`;
}

function keyOf(env: Context["env"]): string | undefined {
  if (env["WEIR_API_KEY"]) return env["WEIR_API_KEY"];
  const first = env["WEIR_API_KEYS"]?.split(",")[0]?.trim();
  return first ? first.slice(first.indexOf(":") + 1) : undefined;
}

/** Reads lines until the end of the input. Ctrl-C stops the running answer, or ends the chat when there is none. */
async function converse(conversation: Conversation, { printError }: Context): Promise<number> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({
    input: process.stdin,
    output: process.stdin.isTTY ? process.stdout : undefined,
  });
  let running: AbortController | undefined;
  lines.on("SIGINT", () => (running ? running.abort() : lines.close()));
  if (process.stdin.isTTY) printError(`${conversation.model} at ${conversation.url}; Ctrl-D exits.`);
  // The reader of the output is gone.
  process.stdout.on("error", () => {
    running?.abort();
    lines.close();
  });
  lines.setPrompt("> ");
  let failures = 0;
  if (process.stdin.isTTY) lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== "") {
      running = new AbortController();
      failures += Number(!(await turn(conversation, line, running.signal, printError)));
      running = undefined;
    }
    if (process.stdin.isTTY) lines.prompt();
  }
  return failures === 0 ? 0 : 1;
}

/** Sends one question and prints the answer. @returns whether the answer was complete */
async function turn(
  conversation: Conversation,
  line: string,
  signal: AbortSignal,
  printError: (text: string) => void,
): Promise<boolean> {
  conversation.messages.push({ role: "user", content: line });
  try {
    const content = await ask(conversation, signal);
    process.stdout.write("\n");
    conversation.messages.push({ role: "assistant", content });
    return true;
  } catch (thrown) {
    conversation.messages.pop();
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    printError(signal.aborted ? "\n(stopped)" : `weir: ${message}`);
    return signal.aborted;
  }
}

async function ask({ url, model, key, messages }: Conversation, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages, stream: true }),
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new Error(`no gateway answers at ${url}; start one with \`weir\`, or set its URL with --url.`);
  });
  if (!response.ok || !response.body)
    throw new Error(errorSentence(await response.text()) ?? `status ${response.status}`);
  let content = "";
  for await (const { data } of readFrames(response.body as unknown as AsyncIterable<Uint8Array>)) {
    if (data === "[DONE]") return content;
    const failure = errorSentence(data);
    if (failure !== undefined) throw new Error(failure);
    const text = deltaText(data);
    process.stdout.write(text);
    content += text;
  }
  throw new Error("the answer ended before it was complete.");
}

function errorSentence(text: string): string | undefined {
  const body = parseJson(text);
  if (!isObject(body) || !isObject(body["error"])) return undefined;
  return String(body["error"]["message"]);
}

function deltaText(data: string): string {
  const chunk = parseJson(data);
  const choices = isObject(chunk) && Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
  const delta = isObject(choices[0]) ? choices[0]["delta"] : undefined;
  return isObject(delta) && typeof delta["content"] === "string" ? delta["content"] : "";
}
