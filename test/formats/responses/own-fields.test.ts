/** What happens to fields that only this format has, at providers of other formats. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { UpstreamCodec } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { lossesOf, makeContext } from "../../helpers/codec-context.ts";
import { client } from "./make.ts";

/** The losses, or the member that weir refuses. */
function sent(upstream: UpstreamCodec, more: JsonObject): string[] {
  const context = makeContext({ model: "claude-opus-4-6" });
  const body = { model: "m", input: "hi", ...more };
  try {
    upstream.codec.encodeRequest(client.codec.decodeRequest(body, context), context);
    return lossesOf(context);
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.status === 400) return [`refused ${thrown.param}`];
    throw thrown;
  }
}

const CASES: readonly (readonly [more: JsonObject, outcome: readonly string[]])[] = [
  [{ background: true }, ["refused background"]],
  [{ background: false }, []],
  [{ conversation: "conv_1" }, ["refused conversation"]],
  [{ prompt: { id: "pmpt_1" } }, ["refused prompt"]],
  [{ top_logprobs: 3 }, ["refused top_logprobs"]],
  [{ include: ["message.output_text.logprobs"] }, ["refused include"]],
  [{ include: ["reasoning.encrypted_content"] }, []],
  [{ tool_choice: { type: "mcp", server_label: "x" } }, ["refused tool_choice"]],
  [
    { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }] } },
    ["refused tool_choice"],
  ],
  [{ text: { format: { type: "grammar" } } }, ["refused text"]],
  [{ truncation: "auto" }, ["dropped:truncation"]],
  [{ truncation: "disabled" }, []],
  [{ context_management: [{ type: "compaction" }] }, ["dropped:context_management"]],
  [{ reasoning: { mode: "pro" } }, ["dropped:reasoning"]],
  [{ reasoning: { summary: "auto", context: "all_turns" } }, []],
  [{ metadata: { a: "b" }, max_tool_calls: 3, client_metadata: {}, store: false }, []],
];

describe.each([
  ["chat-completions", chatCompletionsFormat.upstream],
  ["messages", messagesFormat.upstream!],
] as const)("at a %s provider", (_format, upstream) => {
  test.each(CASES)("%j is as the table of own fields says", (more, outcome) => {
    expect(sent(upstream, more)).toEqual([...outcome]);
  });
});
