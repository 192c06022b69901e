/** What a turn adds to those before it. */
import { expect, test } from "bun:test";
import type { Talk, TalkPart, TalkTurn } from "../../../operator/talk.ts";
import { firstWords, newsOf } from "../news.ts";

const text = (words: string): TalkPart => ({ kind: "text", text: words });
const turn = (role: TalkTurn["role"], ...parts: TalkPart[]): TalkTurn => ({ role, parts });
const talk = (turns: TalkTurn[], ...answer: TalkPart[]): Talk => ({ turns, answer, tools: [] });

const SYSTEM = turn("system", text("Be kind."));
const USER = turn("user", text("Look at a."));
const CALL: TalkPart = { kind: "call", id: "1", name: "look", text: '{"a":1}' };
const RESULT = turn("user", { kind: "result", id: "1", text: "found" });

test("S15: a turn is its new messages, without the answer that the client sends back", () => {
  const echo = turn("assistant", { ...CALL, text: '{ "a": 1 }' });
  const talks = [talk([SYSTEM, USER], CALL), talk([SYSTEM, USER, echo, RESULT], text("Done."))];
  expect(newsOf(talks)).toEqual([
    { added: [SYSTEM, USER], answer: [CALL] },
    { added: [RESULT], answer: [text("Done.")] },
  ]);
});

test("S15: an answer that the client has changed is shown, and so is a conversation that begins again", () => {
  const other = turn("assistant", text("Something else."));
  const [, second, third] = newsOf([
    talk([USER], text("Yes")),
    talk([USER, other, RESULT], text("Done.")),
    talk([turn("user", text("Hello"))], text("Hi")),
  ]);
  expect(second).toMatchObject({ added: [other, RESULT] });
  expect(third).toMatchObject({ anew: true, added: [turn("user", text("Hello"))] });
});

test("S15: two agents of one session continue each their own conversation", () => {
  const side = turn("user", text("Summarize."));
  const [, , third] = newsOf([
    talk([USER], text("Yes")),
    talk([side], text("Short.")),
    talk([USER, turn("assistant", text("Yes")), RESULT], text("Done.")),
  ]);
  expect(third).toEqual({ added: [RESULT], answer: [text("Done.")] });
});

test("S15: the first words are those of a person, in one line", () => {
  const notes = turn("user", text("<env>linux</env>"), text(` Repair\n the ${"x".repeat(200)}`));
  expect(firstWords(talk([SYSTEM, notes]))).toStartWith("Repair the xxx");
  expect(firstWords(talk([SYSTEM, notes]))).toHaveLength(160);
  expect(firstWords(talk([SYSTEM]))).toBeUndefined();
});
