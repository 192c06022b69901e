/** The job's provider in the formats of OpenAI and Anthropic. */
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { chatChunk, messagesEvent } from "../../helpers/event-streams.ts";
import { responsesBody, responsesStream, type ScriptedItem } from "../../helpers/responses-events.ts";
import { json, sse } from "../../helpers/upstream.ts";
import { type Call, declared, inPieces, type Language, list, object, sealOf, textOf } from "./language.ts";

export const LANGUAGES: Readonly<Record<string, Language>> = {
  responses: {
    read: (body) => ({
      tools: list(body["tools"]).map(({ type, name, parameters }) =>
        declared(name, type === "custom" ? "custom" : "function", parameters),
      ),
      results: list(body["input"])
        .filter(({ type }) => String(type).endsWith("_call_output"))
        .map(({ output }) => textOf(output)),
      reasoning: list(body["input"])
        .filter(({ type }) => type === "reasoning")
        .map(({ encrypted_content }) => String(encrypted_content)),
      stream: body["stream"] === true,
    }),
    write(turn, stream) {
      const calls = turn.calls.map(({ id, name, kind, input, namespace }): ScriptedItem =>
        kind === "custom"
          ? { type: "custom_tool_call", callId: id, name, input }
          : { type: "function_call", callId: id, name, ...(namespace && { namespace }), arguments: input },
      );
      const answer = {
        id: `turn_${turn.number}`,
        items: [
          { type: "reasoning", summary: [turn.reasoning], encrypted: sealOf(turn.number) } as const,
          ...(turn.text === undefined ? [] : [{ type: "message", text: turn.text } as const]),
          ...calls,
        ],
      };
      return stream ? sse(responsesStream(answer)) : json(responsesBody(answer));
    },
  },
  "chat-completions": {
    read: (body) => ({
      tools: list(body["tools"]).map(({ type, function: called, custom }) =>
        type === "custom"
          ? declared(object(custom)["name"], "custom")
          : declared(object(called)["name"], "function", object(called)["parameters"]),
      ),
      results: list(body["messages"])
        .filter(({ role }) => role === "tool")
        .map(({ content }) => textOf(content)),
      reasoning: list(body["messages"]).flatMap(({ reasoning_details: details }) =>
        list(details).flatMap(({ data }) => (data === undefined ? [] : [String(data)])),
      ),
      stream: body["stream"] === true,
    }),
    write(turn, stream) {
      const { number, reasoning, text = null, calls } = turn;
      const details = [{ type: "reasoning.encrypted", data: sealOf(number), format: "job-v1", index: 0 }];
      const inputOf = (kind: Call["kind"]) => (kind === "custom" ? "input" : "arguments");
      const finish = calls.length > 0 ? "tool_calls" : "stop";
      const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
      if (!stream) {
        const tool_calls = calls.map(({ id, name, kind, input }) => ({
          ...{ id, type: kind, [kind]: { name, [inputOf(kind)]: input } },
        }));
        const message = {
          ...{ role: "assistant", content: text, reasoning_content: reasoning, reasoning_details: details },
          ...(calls.length > 0 ? { tool_calls } : {}),
        };
        const choices = [{ index: 0, message, finish_reason: finish }];
        return json({
          id: `chat_${number}`,
          object: "chat.completion",
          created: 1,
          model: "m",
          choices,
          usage,
        });
      }
      const piece = (index: number, more: object) => chatChunk({ tool_calls: [{ index, ...more }] });
      const written = calls.flatMap(({ id, name, kind, input }, index) => [
        piece(index, { id, type: kind, [kind]: { name, [inputOf(kind)]: "" } }),
        ...inPieces(input).map((text) => piece(index, { [kind]: { [inputOf(kind)]: text } })),
      ]);
      return sse([
        chatChunk({ role: "assistant", content: "" }),
        ...inPieces(reasoning).map((piece) => chatChunk({ reasoning_content: piece })),
        chatChunk({ reasoning_details: details }),
        ...inPieces(text ?? "").map((content) => chatChunk({ content })),
        ...written,
        chatChunk({}, finish),
        `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}\n\n`,
        "data: [DONE]\n\n",
      ]);
    },
  },
  messages: {
    read: (body, path) => {
      const blocks = list(body["messages"]).flatMap(({ content }) => list(content));
      return {
        tools: list(body["tools"]).map(({ name, input_schema }) => declared(name, "function", input_schema)),
        results: blocks.filter(({ type }) => type === "tool_result").map(({ content }) => textOf(content)),
        reasoning: blocks.filter(({ type }) => type === "thinking").map(({ signature }) => String(signature)),
        stream: body["stream"] === true,
        // Vertex names it in the path, and Claude at Bedrock answers under its own name.
        model: String(body["model"] ?? /models\/([^/:]+)/.exec(path)?.[1]).replace("us.anthropic.", ""),
      };
    },
    write(turn, stream) {
      const { number, reasoning, text, calls } = turn;
      const blocks: { whole: JsonObject; empty: JsonObject; deltas: JsonObject[] }[] = [
        {
          whole: { type: "thinking", thinking: reasoning, signature: sealOf(number) },
          empty: { type: "thinking", thinking: "", signature: "" },
          deltas: [
            ...inPieces(reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
            { type: "signature_delta", signature: sealOf(number) },
          ],
        },
      ];
      if (text !== undefined)
        blocks.push({
          whole: { type: "text", text },
          empty: { type: "text", text: "" },
          deltas: inPieces(text).map((piece) => ({ type: "text_delta", text: piece })),
        });
      for (const { id, name, input } of calls)
        blocks.push({
          whole: { type: "tool_use", id, name, input: JSON.parse(input) as Json },
          empty: { type: "tool_use", id, name, input: {} },
          deltas: inPieces(input).map((partial_json) => ({ type: "input_json_delta", partial_json })),
        });
      const stop = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
      const message = {
        ...{
          id: `msg_${number}`,
          type: "message",
          role: "assistant",
          model: turn.model ?? "m",
          content: [] as JsonObject[],
        },
        ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 12, output_tokens: 7 } },
      };
      if (!stream) return json({ ...message, ...stop, content: blocks.map(({ whole }) => whole) });
      return sse([
        messagesEvent("message_start", { message }),
        ...blocks.flatMap(({ empty, deltas }, index) => [
          messagesEvent("content_block_start", { index, content_block: empty }),
          ...deltas.map((delta) => messagesEvent("content_block_delta", { index, delta })),
          messagesEvent("content_block_stop", { index }),
        ]),
        messagesEvent("message_delta", { delta: stop, usage: { output_tokens: 7 } }),
        messagesEvent("message_stop"),
      ]);
    },
  },
};
