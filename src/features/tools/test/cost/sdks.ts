/** A conversation with tools as the SDK of each vendor has it, through a gateway. */
import type Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import type OpenAI from "openai";
import { anthropicClient, openaiClient } from "../../../../../test/helpers/sdk.ts";

/** A call that the model made, with what the client answers. */
export interface Step {
  readonly name: string;
  readonly id: string;
  readonly result: string;
  readonly isError: boolean;
}

export interface Asked {
  readonly url: string;
  readonly model: string;
  readonly stream: boolean;
  readonly tools: readonly string[];
  /** What was called and answered before. */
  readonly steps: readonly Step[];
}

/** @returns the calls of the answer: their names and ids */
export type Ask = (asked: Asked) => Promise<{ name: string; id: string }[]>;

const QUESTION = "What is there?";
const SCHEMA = { type: "object" as const, properties: { at: { type: "string" } } };
export const describe = (name: string) => `Does ${name} at a place. `.repeat(12);

export const SDKS: Readonly<Record<string, Ask>> = {
  async messages({ url, model, stream, tools, steps }) {
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: QUESTION },
      ...steps.flatMap(({ name, id, result, isError }): Anthropic.MessageParam[] => [
        { role: "assistant", content: [{ type: "tool_use", id, name, input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: id, content: result, is_error: isError }],
        },
      ]),
    ];
    const body = {
      ...{ model, max_tokens: 50, messages },
      tools: tools.map((name) => ({ name, description: describe(name), input_schema: SCHEMA })),
    };
    const client = anthropicClient(url);
    const answer = await (stream
      ? client.messages.stream(body).finalMessage()
      : client.messages.create(body));
    return answer.content.flatMap((block) =>
      block.type === "tool_use" ? [{ name: block.name, id: block.id }] : [],
    );
  },
  async "chat-completions"({ url, model, stream, tools, steps }) {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: "user", content: QUESTION },
      ...steps.flatMap(({ name, id, result }): OpenAI.ChatCompletionMessageParam[] => [
        { role: "assistant", tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }] },
        { role: "tool", tool_call_id: id, content: result },
      ]),
    ];
    const body = {
      ...{ model, messages },
      tools: tools.map((name) => ({
        type: "function" as const,
        function: { name, description: describe(name), parameters: SCHEMA },
      })),
    };
    const client = openaiClient(url);
    const answer = await (stream
      ? client.chat.completions.stream(body).finalChatCompletion()
      : client.chat.completions.create(body));
    return (answer.choices[0]?.message.tool_calls ?? []).flatMap((call) =>
      call.type === "function" ? [{ name: call.function.name, id: call.id }] : [],
    );
  },
  async responses({ url, model, stream, tools, steps }) {
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: "user", content: QUESTION },
      ...steps.flatMap(({ name, id, result }): OpenAI.Responses.ResponseInputItem[] => [
        { type: "function_call", call_id: id, name, arguments: "{}" },
        { type: "function_call_output", call_id: id, output: result },
      ]),
    ];
    const body = {
      ...{ model, input, store: false },
      tools: tools.map((name) => ({
        ...{ type: "function" as const, name, description: describe(name), strict: false },
        parameters: SCHEMA,
      })),
    };
    const client = openaiClient(url);
    const answer = await (stream
      ? client.responses.stream(body).finalResponse()
      : client.responses.create(body));
    return answer.output.flatMap((item) =>
      item.type === "function_call" ? [{ name: item.name, id: item.call_id }] : [],
    );
  },
  async gemini({ url, model, stream, tools, steps }) {
    const client = new GoogleGenAI({ apiKey: "none-needed", httpOptions: { baseUrl: url } });
    const ask = {
      model,
      contents: [
        { role: "user", parts: [{ text: QUESTION }] },
        ...steps.flatMap(({ name, result }) => [
          { role: "model", parts: [{ functionCall: { name, args: {} } }] },
          { role: "user", parts: [{ functionResponse: { name, response: { output: result } } }] },
        ]),
      ],
      config: {
        tools: [
          {
            functionDeclarations: tools.map((name) => ({
              ...{ name, description: describe(name) },
              parametersJsonSchema: SCHEMA,
            })),
          },
        ],
      },
    };
    const calls: { name: string; id: string }[] = [];
    if (!stream) calls.push(...namesOf((await client.models.generateContent(ask)).functionCalls));
    else
      for await (const { functionCalls } of await client.models.generateContentStream(ask))
        calls.push(...namesOf(functionCalls));
    return calls;
  },
};

function namesOf(calls: readonly { name?: string; id?: string }[] | undefined) {
  return (calls ?? []).map(({ name = "", id = "" }) => ({ name, id }));
}
