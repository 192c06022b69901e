/** What scripted upstreams answer in either format, and what a client must see of it in its own. */
import type { Answer } from "../helpers/upstream.ts";
import { sse } from "../helpers/upstream.ts";

export interface Scenario {
  name: string;
  reasoning?: string;
  text?: string;
  calls: { name: string; input: Record<string, unknown> }[];
  /** It breaks off behind its text with the vendor's own word for overload. */
  overloaded?: boolean;
}

const INPUT = { command: 'echo ünï "quoted"', count: 3, list: [1, null] };

/** All answers there are for a client with these tools; without tools nothing is called. */
export function scenarios(tools: readonly string[]): Scenario[] {
  const [first, second = first] = tools;
  const plain: Scenario[] = [
    { name: "text", text: "Hello – in pieces.", calls: [] },
    { name: "reasoning and text", reasoning: "Think first.", text: "Then speak.", calls: [] },
    { name: "an overload in mid-stream", text: "Hello – cut", calls: [], overloaded: true },
  ];
  if (first === undefined || second === undefined) return plain;
  return [
    ...plain,
    { name: "one tool call", text: "One moment.", calls: [{ name: first, input: INPUT }] },
    {
      name: "two parallel tool calls",
      calls: [
        { name: first, input: INPUT },
        { name: second, input: {} },
      ],
    },
  ];
}

/** Twelve tokens of input of which five were cached, seven of output. */
export const USAGE = { input: 12, cached: 5, output: 7 };

/** The stream of a chat-completions upstream; fragments of parallel calls alternate. */
export function chatAnswer(scenario: Scenario): Answer {
  const { reasoning, text, calls, overloaded } = scenario;
  const fragments = calls.map(({ input }) =>
    inPieces(Object.keys(input).length ? JSON.stringify(input) : ""),
  );
  const longest = Math.max(0, ...fragments.map((pieces) => pieces.length));
  const turns = Array.from({ length: longest }, (_, turn) =>
    fragments.flatMap((pieces, index) => pieces.slice(turn, turn + 1).map((piece) => argument(index, piece))),
  );
  return sse([
    chunk({ role: "assistant", content: "" }),
    ...inPieces(reasoning).map((piece) => chunk({ reasoning_content: piece })),
    ...inPieces(text).map((content) => chunk({ content })),
    ...(overloaded ? [record(CHAT_OVERLOAD)] : []),
    ...calls.map(({ name }, index) =>
      chunk({
        tool_calls: [{ index, id: `call_up_${index}`, type: "function", function: { name, arguments: "" } }],
      }),
    ),
    ...turns.flat(),
    ...(overloaded ? [] : [chunk({}, calls.length ? "tool_calls" : "stop"), CHAT_USAGE, "data: [DONE]\n\n"]),
  ]);
}

const CHAT_OVERLOAD = {
  error: { message: "The server is overloaded", type: "server_error", code: "server_is_overloaded" },
};
const record = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const envelope = { id: "chatcmpl-up", object: "chat.completion.chunk", created: 1_700_000_000, model: "up" };
const chunk = (delta: object, finish: string | null = null) =>
  record({ ...envelope, choices: [{ index: 0, delta, finish_reason: finish }], usage: null });
const argument = (index: number, piece: string) =>
  chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
const CHAT_USAGE = record({
  ...envelope,
  choices: [],
  usage: {
    prompt_tokens: USAGE.input,
    completion_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
    prompt_tokens_details: { cached_tokens: USAGE.cached },
  },
});

/** The signature an Anthropic upstream puts under its thinking. */
export const SIGNATURE = "RXhhbXBsZSBzaWduYXR1cmU=";

/** The stream of a messages upstream. */
export function messagesAnswer(scenario: Scenario): Answer {
  const { reasoning, text, calls, overloaded } = scenario;
  const blocks: { start: object; deltas: object[] }[] = [];
  if (reasoning !== undefined)
    blocks.push({
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...inPieces(reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: SIGNATURE },
      ],
    });
  if (text !== undefined)
    blocks.push({
      start: { type: "text", text: "" },
      deltas: inPieces(text).map((piece) => ({ type: "text_delta", text: piece })),
    });
  calls.forEach(({ name, input }, index) =>
    blocks.push({
      start: { type: "tool_use", id: `toolu_up_${index}`, name, input: {} },
      deltas: inPieces(Object.keys(input).length ? JSON.stringify(input) : "").map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      })),
    }),
  );
  const written = blocks.flatMap(({ start, deltas }, index) => [
    event("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ]);
  const overload = event("error", { error: { type: "overloaded_error", message: "Overloaded" } });
  if (overloaded) return sse([MESSAGE_START, ...written.slice(0, -1), overload]);
  return sse([
    MESSAGE_START,
    event("ping"),
    ...written,
    event("message_delta", {
      delta: { stop_reason: calls.length ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: USAGE.output },
    }),
    event("message_stop"),
  ]);
}

const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

const MESSAGE_START = event("message_start", {
  message: {
    id: "msg_up",
    type: "message",
    role: "assistant",
    model: "claude-up",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: USAGE.input - USAGE.cached,
      cache_read_input_tokens: USAGE.cached,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    },
  },
});

/** Four characters at a time: no piece of JSON is whole by itself. */
function inPieces(text = ""): string[] {
  return text.match(/[^]{1,4}/g) ?? [];
}
