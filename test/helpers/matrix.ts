/**
 * What is carried between the formats, found out by asking the code: each row is a request with one more member. The losses
 * that weir reports, the members that do not arrive and the errors are the cell.
 */
import type { Json, JsonObject } from "../../src/core/json.ts";
import { DISPLAYED, KIND, MATCHED, MEDIA_TYPE, STOPPED, STREAMED } from "../../src/formats/shared/silent.ts";
import { CLIENT_FORMATS, type ClientFormat, foresee, leavesOf, unseen } from "./foresee.ts";
import { reasonFor } from "./left-out.ts";
import { GEMINI } from "./matrix-gemini.ts";
import { OLLAMA, OLLAMA_GENERATE } from "./matrix-ollama.ts";

const chatCompletionsFormat = CLIENT_FORMATS["chat-completions"]!;
const messagesFormat = CLIENT_FORMATS.messages!;
const responsesFormat = CLIENT_FORMATS.responses!;
const geminiFormat = CLIENT_FORMATS.gemini!;
const ollamaFormat = CLIENT_FORMATS.ollama!;
const ollamaGenerateFormat = CLIENT_FORMATS["ollama-generate"]!;

/** A name for the row, and the members it adds to the plainest request. */
type Probe = readonly [name: string, members: JsonObject];

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PDF = "JVBERi0xLjQKJSVFT0Y=";
const schema: JsonObject = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};

const chatTool: JsonObject = { type: "function", function: { name: "f", parameters: schema } };
const call: JsonObject = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const user = (content: Json): JsonObject => ({ role: "user", content });

const CHAT: readonly Probe[] = [
  [
    "`messages`, any roles",
    {
      messages: [
        { role: "developer", content: "d" },
        user("u"),
        { role: "assistant", content: "a" },
        user("u"),
      ],
    },
  ],
  [
    "system in mid-conversation",
    {
      messages: [user("u"), { role: "assistant", content: "a" }, { role: "system", content: "s" }, user("u")],
    },
  ],
  ["`max_tokens`, `max_completion_tokens`", { max_completion_tokens: 100 }],
  ["`temperature` up to 1", { temperature: 0.5 }],
  ["`temperature` over 1", { temperature: 1.5 }],
  ["`top_p`", { top_p: 0.9 }],
  ["`stop`", { stop: ["END"] }],
  ["`seed`", { seed: 7 }],
  ["`logit_bias`", { logit_bias: { "1": 5 } }],
  ["`frequency_penalty`, `presence_penalty`", { frequency_penalty: 1, presence_penalty: 1 }],
  ["`n` over 1", { n: 2 }],
  ["`logprobs`", { logprobs: true }],
  ["`stream_options.include_usage`", { stream: true, stream_options: { include_usage: true } }],
  [
    "image, data URI",
    { messages: [user([{ type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }])] },
  ],
  [
    "image, https",
    { messages: [user([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }])] },
  ],
  ["`modalities` with `image`", { modalities: ["image", "text"] }],
  [
    "`images` of an assistant message",
    {
      messages: [
        user("u"),
        {
          role: "assistant",
          content: "a",
          images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }],
        },
        user("u"),
      ],
    },
  ],
  [
    "PDF",
    {
      messages: [
        user([
          { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
        ]),
      ],
    },
  ],
  [
    "document by its address",
    { messages: [user([{ type: "file", file: { file_data: "https://example.com/a.pdf" } }])] },
  ],
  [
    "`document_url`",
    { messages: [user([{ type: "document_url", document_url: "https://example.com/a.pdf" }])] },
  ],
  [
    "`video_url`",
    { messages: [user([{ type: "video_url", video_url: { url: "https://example.com/a.mp4" } }])] },
  ],
  ["`file_id`", { messages: [user([{ type: "file", file: { file_id: "file-1" } }])] }],
  ["audio in", { messages: [user([{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }])] }],
  ["audio out", { modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } }],
  ["`tools`", { tools: [chatTool] }],
  ["custom tool", { tools: [{ type: "custom", custom: { name: "c" } }] }],
  [
    "tool calls and results",
    {
      tools: [chatTool],
      messages: [
        user("u"),
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "r" },
      ],
    },
  ],
  ["`tool_choice`: required", { tools: [chatTool], tool_choice: "required" }],
  ["`tool_choice`: named", { tools: [chatTool], tool_choice: { type: "function", function: { name: "f" } } }],
  ["`parallel_tool_calls`: false", { tools: [chatTool], parallel_tool_calls: false }],
  ["legacy `functions`", { functions: [{ name: "f", parameters: schema }] }],
  [
    "`response_format`: json_schema",
    { response_format: { type: "json_schema", json_schema: { name: "r", schema } } },
  ],
  ["`response_format`: json_object", { response_format: { type: "json_object" } }],
  ["`reasoning_effort`", { reasoning_effort: "high" }],
  ["`verbosity`", { verbosity: "low" }],
  ["`user`, `safety_identifier`", { user: "someone" }],
  ["`service_tier`: flex", { service_tier: "flex" }],
  [
    "cache marks on parts",
    { messages: [user([{ type: "text", text: "u", cache_control: { type: "ephemeral" } }])] },
  ],
  ["`web_search_options`", { web_search_options: {} }],
  ["`metadata`", { metadata: { job: "a" } }],
  ["`store`, `prediction`", { store: true, prediction: { type: "content", content: "x" } }],
  ["`name` of a message", { messages: [{ ...user("u"), name: "ada" }] }],
  [
    "`strict` of a tool",
    { tools: [{ type: "function", function: { name: "f", parameters: schema, strict: true } }] },
  ],
  [
    "`reasoning_content` of an earlier turn",
    {
      messages: [user("u"), { role: "assistant", content: "a", reasoning_content: "t" }, user("u")],
    },
  ],
  ["`grammar`, or any member that weir does not know", { grammar: 'root ::= "a"' }],
];

const claudeTool: JsonObject = { name: "f", input_schema: schema };
const use: JsonObject = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
const result = (content: Json): JsonObject => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: "toolu_1", content }],
});
const image: JsonObject = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };
const pdf: JsonObject = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: PDF },
};

const MESSAGES: readonly Probe[] = [
  ["`system`, text or blocks", { system: [{ type: "text", text: "s" }] }],
  ["system in mid-conversation", { messages: [user("u"), { role: "system", content: "s" }] }],
  ["`temperature`", { temperature: 0.5 }],
  ["`top_k`", { top_k: 5 }],
  ["`stop_sequences` up to 4", { stop_sequences: ["END"] }],
  ["`stop_sequences` over 4", { stop_sequences: ["a1", "b2", "c3", "d4", "e5"] }],
  ["image", { messages: [user([image])] }],
  ["PDF", { messages: [user([pdf])] }],
  [
    "text document",
    {
      messages: [user([{ type: "document", source: { type: "text", media_type: "text/plain", data: "t" } }])],
    },
  ],
  ["`container_upload`", { messages: [user([{ type: "container_upload", file_id: "f" }])] }],
  ["file by id", { messages: [user([{ type: "image", source: { type: "file", file_id: "f" } }])] }],
  ["`tools`", { tools: [claudeTool] }],
  [
    "tool use and result",
    { tools: [claudeTool], messages: [user("u"), { role: "assistant", content: [use] }, result("r")] },
  ],
  [
    "image in a tool result",
    { tools: [claudeTool], messages: [user("u"), { role: "assistant", content: [use] }, result([image])] },
  ],
  [
    "PDF in a tool result",
    { tools: [claudeTool], messages: [user("u"), { role: "assistant", content: [use] }, result([pdf])] },
  ],
  ["`tool_choice`: any", { tools: [claudeTool], tool_choice: { type: "any" } }],
  [
    "`disable_parallel_tool_use`",
    { tools: [claudeTool], tool_choice: { type: "auto", disable_parallel_tool_use: true } },
  ],
  ["server tool (web search)", { tools: [claudeTool, { type: "web_search_20250305", name: "web_search" }] }],
  ["`thinking` with a budget", { thinking: { type: "enabled", budget_tokens: 2000 }, max_tokens: 4000 }],
  ["`output_config.effort`", { output_config: { effort: "high" } }],
  ["`output_config.format`", { output_config: { format: { type: "json_schema", schema } } }],
  [
    "signed thinking of Anthropic's",
    {
      messages: [
        user("u"),
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t", signature: "SIG" },
            { type: "text", text: "a" },
          ],
        },
        user("u"),
      ],
    },
  ],
  ["citations", { messages: [user([{ ...pdf, citations: { enabled: true } }])] }],
  ["`metadata.user_id`", { metadata: { user_id: "someone" } }],
  ["`service_tier`", { service_tier: "standard_only" }],
  [
    "`context_management`: clear_tool_uses",
    { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } },
  ],
  [
    "`mcp_servers`, `container`, `thread`",
    { mcp_servers: [{ type: "url", url: "https://example.com", name: "x" }] },
  ],
  [
    "prefill (last message from the assistant)",
    { messages: [user("u"), { role: "assistant", content: "a" }] },
  ],
];

/** The members of the plainest request. */
function plainest(format: ClientFormat): JsonObject {
  if (format === responsesFormat) return { input: "u" };
  if (format === ollamaFormat) return { messages: [user("u")] };
  if (format === ollamaGenerateFormat) return { prompt: "u" };
  if (format === geminiFormat) return { contents: [{ role: "user", parts: [{ text: "u" }] }] };
  return { max_tokens: 100, messages: [user("u")] };
}

/** Why a value that the provider does not get counts as carried: weir has done what it asks for. */
const DONE: ReadonlySet<string | undefined> = new Set([
  DISPLAYED,
  KIND,
  MATCHED,
  MEDIA_TYPE,
  STOPPED,
  STREAMED,
]);

/** What becomes of the members: what arrives at the provider decides, not what is reported. */
async function cell(format: ClientFormat, model: string, members: JsonObject): Promise<string> {
  const body: JsonObject = { model, ...plainest(format), ...members };
  if ("max_completion_tokens" in members) delete body["max_tokens"];
  const foreseen = await foresee(format, body);
  if ("refused" in foreseen) return `refused${foreseen.param ? ` (\`${foreseen.param}\`)` : ""}`;
  const listed = foreseen.losses.map(({ code, path }) => `${code} \`${path}\``);
  const missing = await unseen(format, body, leavesOf(members));
  const open = missing.filter((path) => !DONE.has(reasonFor(format.id, path)));
  const leftOut = [...new Set(open.map((path) => path.replace(/(?<=\.parameters)\..*/, "")))];
  const cells = [...listed, ...leftOut.map((path) => `left out \`${path}\``)];
  return cells.length === 0 ? "carried" : cells.join(", ");
}

async function section(
  title: string,
  format: ClientFormat,
  models: readonly string[],
  probes: readonly Probe[],
): Promise<string> {
  const rows = await Promise.all(
    probes.map(async ([name, members]) => {
      const cells = await Promise.all(models.map((model) => cell(format, model, members)));
      return `| ${name} | ${cells.join(" | ")} |`;
    }),
  );
  const heads = models.map((model) => `\`${model}\``).join(" | ");
  return [
    `${title}\n`,
    `| of the request | to ${heads} |`,
    `| --- | ${models.map(() => "---").join(" | ")} |`,
    ...rows,
  ].join("\n");
}

const responsesTool: JsonObject = { type: "function", name: "f", parameters: schema };
const responsesCall: JsonObject = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
const output = (value: Json): JsonObject => ({
  type: "function_call_output",
  call_id: "call_1",
  output: value,
});
const patch: JsonObject = {
  type: "custom",
  name: "c",
  format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
};

const RESPONSES: readonly Probe[] = [
  ["`input`, text", { input: "u" }],
  [
    "`instructions`, messages of any role",
    { instructions: "s", input: [{ role: "developer", content: "d" }, user("u")] },
  ],
  ["`max_output_tokens`", { max_output_tokens: 100 }],
  ["`temperature`", { temperature: 0.5 }],
  ["`top_logprobs`", { top_logprobs: 2 }],
  [
    "`input_image`",
    { input: [user([{ type: "input_image", image_url: `data:image/png;base64,${PIXEL}` }])] },
  ],
  [
    "`input_file`",
    {
      input: [
        user([{ type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` }]),
      ],
    },
  ],
  ["`file_id`", { input: [user([{ type: "input_file", file_id: "file-1" }])] }],
  ["`tools`", { tools: [responsesTool] }],
  ["custom tool", { tools: [{ type: "custom", name: "c" }] }],
  ["custom tool with a grammar", { tools: [patch] }],
  ["namespace", { tools: [{ type: "namespace", name: "n", tools: [responsesTool] }] }],
  [
    "`local_shell`, `shell`, `apply_patch`",
    { tools: [{ type: "local_shell" }, { type: "shell" }, { type: "apply_patch" }] },
  ],
  ["`web_search` beside others", { tools: [responsesTool, { type: "web_search" }] }],
  ["`web_search` alone", { tools: [{ type: "web_search" }] }],
  ["`computer`", { tools: [responsesTool, { type: "computer" }] }],
  ["calls and outputs", { tools: [responsesTool], input: [user("u"), responsesCall, output("r")] }],
  [
    "image in an output",
    {
      tools: [responsesTool],
      input: [
        user("u"),
        responsesCall,
        output([{ type: "input_image", image_url: `data:image/png;base64,${PIXEL}` }]),
      ],
    },
  ],
  [
    "`image_generation_call` in the history",
    { input: [user("u"), { type: "image_generation_call", id: "ig_1", result: PIXEL }, user("u")] },
  ],
  [
    "`web_search_call` in the history",
    { input: [user("u"), { type: "web_search_call", action: { type: "search", query: "q" } }, user("u")] },
  ],
  [
    "unknown items in the history",
    { input: [user("u"), { type: "mcp_call", name: "x", arguments: "{}" }, user("u")] },
  ],
  [
    "reasoning of OpenAI's",
    {
      input: [
        user("u"),
        { type: "reasoning", summary: [], encrypted_content: "gAAA" },
        { role: "assistant", content: "a" },
        user("u"),
      ],
    },
  ],
  ["`tool_choice`: required", { tools: [responsesTool], tool_choice: "required" }],
  ["`parallel_tool_calls`: false", { tools: [responsesTool], parallel_tool_calls: false }],
  ["`text.format`: json_schema", { text: { format: { type: "json_schema", name: "r", schema } } }],
  ["`text.verbosity`", { text: { verbosity: "low" } }],
  ["`reasoning.effort`", { reasoning: { effort: "high", summary: "auto" } }],
  ["`service_tier`: flex", { service_tier: "flex" }],
  ["`truncation`: auto", { truncation: "auto" }],
  ["`context_management`", { context_management: [{ type: "compaction" }] }],
  ["`background`, `conversation`, `prompt`", { background: true }],
  ["`metadata`", { metadata: { a: "b" } }],
  ["`include`, `max_tool_calls`", { include: ["reasoning.encrypted_content"], max_tool_calls: 3 }],
  [
    "`description` of a namespace",
    { tools: [{ type: "namespace", name: "n", description: "d", tools: [responsesTool] }] },
  ],
];

/** A model that Bedrock serves in Converse. */
const NOVA = "bedrock/us.amazon.nova-2-lite-v1:0";

/** The tables of `src/formats/README.md`. */
export async function makeMatrix(): Promise<string> {
  const chat = await section(
    "A chat-completions client:",
    chatCompletionsFormat,
    ["claude-opus-4-6", "claude-opus-5-5", "gemini-3.5-flash", NOVA],
    CHAT,
  );
  const messages = await section(
    "A messages client:",
    messagesFormat,
    ["gpt-4.1", "gpt-5.4", "gemini-3.5-flash", NOVA],
    MESSAGES,
  );
  const responses = await section(
    "A responses client:",
    responsesFormat,
    ["mistral/mistral-large-latest", "claude-opus-4-6", NOVA],
    RESPONSES,
  );
  const google = await section(
    "A Gemini client:",
    geminiFormat,
    ["gpt-4.1", "claude-opus-4-6", NOVA],
    GEMINI,
  );
  const models = ["gpt-5.4", "claude-opus-4-6", "gemini-3.5-flash", "groq/llama-3.3-70b-versatile"];
  const ollama = await section("A client of Ollama's chats:", ollamaFormat, models, OLLAMA);
  const prompts = await section(
    "A client of Ollama's prompts; `options` and the rest are as in a chat:",
    ollamaGenerateFormat,
    models,
    OLLAMA_GENERATE,
  );
  return [chat, messages, responses, google, ollama, prompts].join("\n\n");
}
