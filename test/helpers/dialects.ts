/** How each client format words the end of an answer and an error, found out by asking its codec. */
import { type ErrorKind, GatewayError, STATUS } from "../../src/core/error.ts";
import { type ChatEvent, type FinishKind, NO_USAGE } from "../../src/core/events.ts";
import type { ClientCodec } from "../../src/core/format.ts";
import { isObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { ollamaFormat } from "../../src/formats/ollama/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { makeContext } from "./codec-context.ts";
import { markdownTable } from "./documents.ts";

const CLIENTS: readonly { id: string; client: ClientCodec }[] = [
  { id: chatCompletionsFormat.id, client: chatCompletionsFormat.client },
  { id: messagesFormat.id, client: messagesFormat.client! },
  { id: responsesFormat.id, client: responsesFormat.client },
  { id: geminiFormat.id, client: geminiFormat.client },
  { id: ollamaFormat.id, client: ollamaFormat.client },
];

const FINISHES: Record<FinishKind, string> = {
  stop: "the model had no more to say",
  "stop-sequence": "a stop sequence",
  length: "the output limit or the context was reached",
  "tool-calls": "tool calls",
  "content-filter": "a filter or a refusal",
  pause: "the provider paused a long turn and wants to be called again",
};

/** Reasons in rows, formats in columns. */
export function finishTable(): string {
  const rows = Object.entries(FINISHES).map(([kind, meaning]) => [
    meaning,
    ...CLIENTS.map(({ client }) => `\`${finishWord(client, kind as FinishKind)}\``),
  ]);
  return markdownTable(["the answer ended with", ...CLIENTS.map(({ id }) => `\`${id}\``)], rows);
}

function finishWord(client: ClientCodec, kind: FinishKind): string {
  const block: ChatEvent[] =
    kind === "tool-calls"
      ? [
          {
            type: "block-start",
            index: 0,
            block: { type: "tool-call", id: "c", name: "f", kind: "function" },
          },
        ]
      : [{ type: "block-start", index: 0, block: { type: "text" } }];
  const answer = client.codec.writeAnswer(
    [
      { type: "message-start", id: "1", model: "m" },
      ...block,
      { type: "block-end", index: 0 },
      { type: "message-end", reason: { kind }, usage: NO_USAGE },
    ],
    makeContext(),
  );
  const choices = answer["choices"] ?? answer["candidates"];
  const choice = Array.isArray(choices) ? choices[0] : answer;
  if (!isObject(choice)) return "";
  const why = memberOf(choice["incomplete_details"], "reason");
  return String(
    choice["finish_reason"] ??
      choice["finishReason"] ??
      choice["stop_reason"] ??
      choice["done_reason"] ??
      why ??
      choice["status"],
  );
}

/** Kinds of errors in rows, formats in columns: status, type and code. */
export function errorTable(): string {
  const rows = Object.keys(STATUS).map((kind) => [
    `\`${kind}\``,
    ...CLIENTS.map(({ client }) => errorWords(client, kind as ErrorKind)),
  ]);
  return markdownTable(["kind", ...CLIENTS.map(({ id }) => `\`${id}\``)], rows);
}

function errorWords(client: ClientCodec, kind: ErrorKind): string {
  const { status, body } = client.codec.encodeError(new GatewayError(kind, "A sentence."), "req_1");
  const error = memberOf(body, "error");
  const words = [memberOf(error, "type"), memberOf(error, "code"), memberOf(error, "status")];
  return [
    String(status),
    ...words.filter((word) => typeof word === "string").map((word) => `\`${word}\``),
  ].join(" ");
}

function memberOf(value: Json | JsonObject | undefined, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined;
}
