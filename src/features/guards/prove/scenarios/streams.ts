/** Texts that stream at the same time. */
import { isObject, type JsonObject } from "../../../../core/json.ts";
import type { UpstreamResponse } from "../../../../gateway/lanes/transport.ts";
import { valuesAt } from "../clients.ts";
import { eventsIn } from "../judge.ts";
import { bodyOf, type Play, Streamed } from "../provider.ts";
import { CHAT, REPLACED, type Scenario, tokensIn, user } from "./stage.ts";

const chunk = (choices: JsonObject[]) =>
  Buffer.from(
    `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`,
  );
const DONE = Buffer.from("data: [DONE]\n\n");

/** The pieces of two texts in turn. */
function woven(
  one: string,
  other: string,
  piece: (at: number, delta: string) => JsonObject[],
): UpstreamResponse {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < Math.max(one.length, other.length); at += 2)
    for (const [index, text] of [one, other].entries())
      if (at < text.length) pieces.push(chunk(piece(index, text.slice(at, at + 2))));
  const ends = [0, 1].map((index) => ({ index, delta: {}, finish_reason: "stop" }));
  return new Streamed([...pieces, chunk(ends), DONE]);
}

const choices: Scenario = {
  name: "two choices of one answer",
  async run(stage) {
    const [one, other] = [stage.value(0), stage.value(1)];
    const play: Play = (request) => {
      const [first = "", second = ""] = tokensIn(bodyOf(request));
      return woven(`to ${first} now`, `${second}${first}`, (index, content) => [
        { index, delta: { content }, finish_reason: null },
      ]);
    };
    await stage.with(play, async () => {
      const messages = [user(`${stage.mark} ${one} and ${other}`)];
      const { said } = await stage.ask(CHAT, { model: REPLACED, stream: true, n: 2, messages });
      const texts = [0, 1].map((index) =>
        eventsIn(said)
          .flatMap((event) => valuesAt(event, "choices.*"))
          .filter((choice) => isObject(choice) && choice.index === index)
          .flatMap((choice) => valuesAt(choice, "delta.content"))
          .join(""),
      );
      stage.checks.that("each choice has its text", texts.join("|") === `to ${one} now|${other}${one}`, said);
    });
    stage.judgeProvider(1);
  },
};

const calls: Scenario = {
  name: "two calls of tools at the same time",
  async run(stage) {
    const [one, other] = [stage.value(0), stage.value(1)];
    const play: Play = (request) => {
      const [first = "", second = ""] = tokensIn(bodyOf(request));
      const called = (index: number, piece: string) => [
        {
          ...{ index: 0, finish_reason: null },
          delta: {
            tool_calls: [
              { index, id: `c_${index}`, type: "function", function: { name: "send", arguments: piece } },
            ],
          },
        },
      ];
      return woven(JSON.stringify({ to: first }), JSON.stringify({ to: `${second} ${first}` }), called);
    };
    await stage.with(play, async () => {
      const tools = [{ type: "function", function: { name: "send", parameters: { type: "object" } } }];
      const messages = [user(`${stage.mark} ${one} and ${other}`)];
      const { said } = await stage.ask(CHAT, { model: REPLACED, stream: true, tools, messages });
      const made = eventsIn(said).flatMap((event) => valuesAt(event, "choices.*.delta.tool_calls.*"));
      const args = [0, 1].map((index) =>
        made
          .filter((call) => isObject(call) && call.index === index)
          .flatMap((call) => valuesAt(call, "function.arguments"))
          .join(""),
      );
      stage.checks.that(
        "each call has its arguments",
        args.join("|") === `${JSON.stringify({ to: one })}|${JSON.stringify({ to: `${other} ${one}` })}`,
        said,
      );
    });
    stage.judgeProvider(1);
  },
};

const beginnings: Scenario = {
  name: "a block at the beginning of a stream",
  async run(stage) {
    const value = stage.value();
    const said = `${value} is it`;
    const pieces = said
      .match(/.{1,3}/g)!
      .map((content) => chunk([{ index: 0, delta: { content }, finish_reason: null }]));
    const play: Play = () => new Streamed([...pieces, DONE]);
    await stage.with(play, async () => {
      const asking = { model: "p-chat-completions/email-block", stream: true, messages: [user(stage.mark)] };
      const { status, said: got } = await stage.ask(CHAT, asking);
      stage.checks.that("it is a status", status === 400 && !got.includes(value), `${status} ${got}`);
    });
  },
};

const escapes: Scenario = {
  name: "an escape in front of a value in arguments",
  async run(stage) {
    const json = JSON.stringify({ to: "\tanna.model@example.com", cc: "\nbob.model@example.com" });
    const pieces = json.match(/.{1,4}/g)!.map((piece) =>
      chunk([
        {
          ...{ index: 0, finish_reason: null },
          delta: {
            tool_calls: [
              { index: 0, id: "c", type: "function", function: { name: "send", arguments: piece } },
            ],
          },
        },
      ]),
    );
    const play: Play = () => new Streamed([...pieces, DONE]);
    await stage.with(play, async () => {
      const tools = [{ type: "function", function: { name: "send", parameters: { type: "object" } } }];
      const asking = {
        model: "p-chat-completions/email-mask",
        stream: true,
        tools,
        messages: [user(stage.mark)],
      };
      const { said } = await stage.ask(CHAT, asking);
      const args = eventsIn(said)
        .flatMap((event) => valuesAt(event, "choices.*.delta.tool_calls.*.function.arguments"))
        .join("");
      const masked = JSON.stringify({ to: "\t[EMAIL]", cc: "\n[EMAIL]" });
      stage.checks.that("arguments stay JSON", args === masked, args);
    });
  },
};

const halves: Scenario = {
  name: "half a token at the end of a block, and half at the beginning of the next",
  async run(stage) {
    const event = (type: string, more: JsonObject) =>
      Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    const block = (index: number, text: string) => [
      event("content_block_start", { index, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index, delta: { type: "text_delta", text } }),
      event("content_block_stop", { index }),
    ];
    const play: Play = (request) => {
      const token = tokensIn(bodyOf(request))[0] ?? "";
      const message = {
        id: "a",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      };
      return new Streamed([
        event("message_start", { message }),
        ...block(0, `to ${token.slice(0, 12)}`),
        ...block(1, `${token.slice(12)} now`),
        event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
        event("message_stop", {}),
      ]);
    };
    await stage.with(play, async () => {
      const asking = {
        model: "p-messages/email-replace",
        stream: true,
        max_tokens: 9,
        messages: [user(`${stage.mark} ${stage.value()}`)],
      };
      const { said } = await stage.ask("/v1/messages", asking);
      const token = tokensIn(stage.bodies[0] ?? "")[0]!;
      const texts = eventsIn(said).flatMap((one) => valuesAt(one, "delta.text"));
      stage.checks.that(
        "they stay apart",
        texts.join("|") === `to ${token.slice(0, 12)}|${token.slice(12)} now`,
        said,
      );
    });
    stage.judgeProvider(1);
  },
};

const wholes: Scenario = {
  name: "a block in arguments that come in one piece",
  async run(stage) {
    const event = (parts: JsonObject[]) => {
      const candidates = [{ index: 0, content: { role: "model", parts } }];
      return Buffer.from(`data: ${JSON.stringify({ candidates, responseId: "a", modelVersion: "m" })}\n\n`);
    };
    // It stays in what is kept of the call.
    const value = "whole.words@example.com";
    const call = { functionCall: { name: "send", args: { to: value } } };
    const play: Play = () => new Streamed([event([{ text: "I write." }]), event([call]), event([])]);
    await stage.with(play, async () => {
      const asking = { contents: [{ role: "user", parts: [{ text: stage.mark }] }] };
      const path = "/v1beta/models/p-gemini/email-block:streamGenerateContent?alt=sse";
      const { said } = await stage.ask(path, asking);
      stage.checks.that(
        "the client gets no value",
        said.includes("The guard") && !said.includes(value),
        said,
      );
    });
  },
};

export const STREAMS: readonly Scenario[] = [choices, calls, beginnings, escapes, halves, wholes];
