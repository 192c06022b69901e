/** Requests with the members that no case in `test/fixtures/requests` has, by the id of the client's format. */
import type { JsonObject } from "../../src/core/json.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PDF = "JVBERi0xLjQKJSVFT0Y=";
const schema: JsonObject = { type: "object", properties: { city: { type: "string" } } };

const chat = (members: JsonObject): JsonObject => ({
  messages: [{ role: "user", content: "u" }],
  ...members,
});
const chatCall = (more: JsonObject): JsonObject => ({
  id: "call_1",
  type: "function",
  function: { name: "f", arguments: '{"city":"Rome"}' },
  ...more,
});
const chatTurns = (assistant: JsonObject, result: JsonObject = {}): JsonObject =>
  chat({
    tools: [{ type: "function", function: { name: "f", parameters: schema } }],
    messages: [
      { role: "user", content: "u" },
      { role: "assistant", content: "a", tool_calls: [chatCall({})], ...assistant },
      { role: "tool", tool_call_id: "call_1", content: "r", ...result },
    ],
  });

const claude = (members: JsonObject): JsonObject => ({
  max_tokens: 4000,
  messages: [{ role: "user", content: "u" }],
  ...members,
});
const claudeTool: JsonObject = { name: "f", input_schema: schema };
const claudeTurns = (use: JsonObject, result: JsonObject): JsonObject =>
  claude({
    tools: [claudeTool],
    messages: [
      { role: "user", content: "u" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "f", input: {}, ...use }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "r", ...result }] },
    ],
  });

const responses = (members: JsonObject): JsonObject => ({ input: "u", ...members });
const items = (...list: JsonObject[]): JsonObject => ({ input: [{ role: "user", content: "u" }, ...list] });

const google = (members: JsonObject): JsonObject => ({
  contents: [{ role: "user", parts: [{ text: "u" }] }],
  ...members,
});
const config = (members: JsonObject): JsonObject => google({ generationConfig: members });
const part = (members: JsonObject): JsonObject => google({ contents: [{ role: "user", parts: [members] }] });

const ollama = (members: JsonObject): JsonObject => ({
  stream: false,
  messages: [{ role: "user", content: "u" }],
  ...members,
});
const SAMPLING: JsonObject = {
  top_p: 0.5,
  top_k: 20,
  typical_p: 0.7,
  tfs_z: 0.9,
  repeat_penalty: 1.1,
  repeat_last_n: 32,
  mirostat: 1,
  mirostat_tau: 4,
  mirostat_eta: 0.2,
  penalize_newline: true,
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
};

export const RARE: Readonly<Record<string, readonly JsonObject[]>> = {
  "chat-completions": [
    chat({ top_k: 20, moderation: { model: "m", policy: { input: { mode: "report" } } } }),
    chat({ reasoning: { effort: "high", exclude: true, summary: "detailed" } }),
    chat({ reasoning: { enabled: true } }),
    chat({ thinking: { type: "enabled", budget_tokens: 3000, display: "omitted" } }),
    chat({ prompt_cache_options: { mode: "explicit" }, prompt_cache_retention: "24h" }),
    chat({
      messages: [{ role: "user", content: [{ type: "file", file: { filename: "a.pdf", file_data: PDF } }] }],
    }),
    chatTurns({ thinking_blocks: [{ type: "thinking", thinking: "t", signature: "s" }] }, { is_error: true }),
    chatTurns({ annotations: [{ type: "url_citation" }], reasoning: "t" }, { name: "f" }),
    chatTurns({ tool_calls: [chatCall({ extra_content: { google: { thought_signature: "s" } } })] }),
  ],
  messages: [
    claude({ speed: "fast", inference_geo: "global", thinking: { type: "adaptive", display: "omitted" } }),
    claude({ thinking: { type: "enabled", budget_tokens: 2000, block_binding: { mode: "strict" } } }),
    claude({ output_format: { type: "json_schema", schema } }),
    claude({ output_format: { type: "made_up" } }),
    claude({ context_management: { edits: [], made_up: 1 } }),
    claude({ tools: [{ ...claudeTool, defer_loading: true, strict: true }] }),
    claude({
      tools: [claudeTool, { type: "text_editor_20250728", name: "e", max_characters: 100 }],
      tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
    }),
    claude({
      messages: [
        { role: "user", content: "u" },
        { role: "system", content: "s", output_config: { effort: "low" } },
        { role: "user", content: "v" },
      ],
    }),
    claude({
      messages: [
        {
          role: "user",
          content: [
            {
              type: "document",
              title: "t",
              context: "c",
              citations: { enabled: true },
              source: { type: "content", content: [{ type: "text", text: "d" }] },
            },
          ],
        },
      ],
    }),
    claudeTurns(
      { caller: { type: "code_execution_20250825" }, toolset_name: "s" },
      { is_error: true, toolset_name: "s" },
    ),
  ],
  responses: [
    responses({ temperature: 0.5, top_p: 0.5, truncation: "auto", safety_identifier: "a" }),
    responses({ user: "a", moderation: { policy: { input: { mode: "report" } } } }),
    responses({
      reasoning: { effort: "low", generate_summary: "detailed", mode: "pro" },
      image: { context_compression: 1 },
    }),
    responses({
      context_management: [{ type: "compaction", compact_threshold: 1000 }],
      access_programs: ["a"],
    }),
    responses({ prompt_cache_key: "k", prompt_cache_options: { mode: "explicit" }, stream_options: {} }),
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_file", filename: "a.pdf", file_data: PDF },
            { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "high" },
          ],
        },
      ],
    },
    items(
      { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
      { role: "user", content: "v" },
    ),
    {
      ...items(
        {
          type: "shell_call",
          call_id: "c1",
          action: { commands: ["ls"], timeout_ms: 5, max_output_length: 9 },
        },
        {
          type: "shell_call_output",
          call_id: "c1",
          output: [{ stdout: "o", stderr: "e", outcome: { type: "exit", exit_code: 1 } }],
        },
        { type: "apply_patch_call", call_id: "c2", operation: { type: "update_file", path: "p", diff: "d" } },
        { type: "apply_patch_call_output", call_id: "c2", status: "failed", output: "x" },
      ),
      tools: [{ type: "shell" }, { type: "apply_patch" }],
    },
    {
      ...responses({
        tools: [
          { type: "function", name: "f", parameters: schema, allowed_callers: ["a"], defer_loading: true },
        ],
      }),
      tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] },
    },
  ],
  gemini: [
    google({ modelArmorConfig: { promptTemplateName: "t" }, store: true }),
    google({
      toolConfig: { retrievalConfig: { languageCode: "en" }, includeServerSideToolInvocations: true },
    }),
    google({ toolConfig: { functionCallingConfig: { mode: "MADE_UP" } } }),
    config({
      speechConfig: { languageCode: "en" },
      imageConfig: { aspectRatio: "1:1" },
      audioTimestamp: true,
    }),
    config({
      routingConfig: { manualMode: { modelName: "m" } },
      modelSelectionConfig: { featureSelectionPreference: "A" },
    }),
    config({ enableAffectiveDialog: true, continuationToken: "t", mediaResolution: "LOW" }),
    part({ inlineData: { mimeType: "application/pdf", data: PDF, displayName: "a.pdf" } }),
    part({ inlineData: { mimeType: "image/png", data: PIXEL, displayName: "a.png" } }),
    part({ text: "u", partMetadata: { a: 1 } }),
  ],
  ollama: [
    ollama({ options: SAMPLING }),
    ollama({ options: { num_keep: 4, num_batch: 8, main_gpu: 1, numa: true, low_vram: true }, shift: false }),
  ],
  "ollama-generate": [
    { stream: false, prompt: "u", think: "high", options: SAMPLING },
    { stream: false, prompt: "u", steps: 3, truncate: true, shift: true, keep_alive: "5m" },
  ],
};
