/** How the drill reads the output of a client. */
import { expect, test } from "bun:test";
import { ANSWER_WORDS } from "../answer-text.ts";
import { readOutput, shownAnswer } from "../output.ts";

const ANSWER = ANSWER_WORDS.join(" ");
const HALF = ANSWER_WORDS.slice(0, 13).join(" ");
const NOTHING = { out: "", err: "" };

test("the whole answer is recognised through line breaks, colours and events", () => {
  const events = ANSWER_WORDS.map((word) => `{"type":"delta","text":"${word}"}`).join("\n");
  for (const out of [ANSWER, ANSWER.replaceAll(" ", "\n  "), `\u001b[1m${ANSWER}\u001b[0m`, events])
    expect(shownAnswer({ out, err: "" })).toBe("whole");
});

test("an answer after a broken one is the whole answer", () => {
  expect(shownAnswer({ out: `${HALF}\nonce more\n${ANSWER}`, err: "" })).toBe("whole");
});

test("half an answer and one with a gap are a part of it", () => {
  expect(shownAnswer({ out: HALF, err: "" })).toBe("part");
  expect(shownAnswer({ out: ANSWER.replace("mike13 ", ""), err: "" })).toBe("part");
  expect(shownAnswer({ out: "nothing of it", err: "" })).toBe("none");
});

const COMPLAINTS = [
  "error: 429 The rate limit is reached",
  "APIConnectionError",
  "API Error: Overloaded",
  "✗ the stream was interrupted",
  "Request timed out.",
  "stream disconnected before completion",
  '{"type":"result","is_error":true,"result":"x"}',
  "The answer was blocked by a content filter",
  "fetch failed",
];

test("a line that reports a failure is a complaint", () => {
  for (const line of COMPLAINTS)
    expect(readOutput({ out: "", err: `\u001b[31m${line}\u001b[0m\n` }, NOTHING).complaint).toBe(line);
});

const NO_COMPLAINTS = [
  "Thinking…",
  "retrying in 2 s",
  '{"is_error":false,"error":null,"permission_denials":[],"duration_ms":500}',
  `Here you are: ${ANSWER}`,
];

test("a line that reports no failure is no complaint", () => {
  for (const line of NO_COMPLAINTS)
    expect(readOutput({ out: line, err: "" }, NOTHING).complaint).toBeUndefined();
});

test("a line that the client also prints without a fault is no complaint", () => {
  const err = "warning: no config file found\n";
  expect(readOutput({ out: HALF, err }, { out: ANSWER, err }).complaint).toBeUndefined();
  const folder = (run: number) => `error log: /tmp/drill/run-${run}/log-a${run}f3`;
  expect(readOutput({ out: "", err: folder(7) }, { out: "", err: folder(0) }).complaint).toBeUndefined();
  const failed = readOutput({ out: "", err: `${err}error: cut\n` }, { out: ANSWER, err });
  expect(failed.complaint).toBe("error: cut");
});

test("stack traces of JavaScript, Python, Go and Rust are recognised", () => {
  const traces = [
    "Error: x\n    at ask (/app/ask.js:3:7)\n    at async main (/app/ask.js:9:3)\n",
    "Traceback (most recent call last):\n  File",
    "goroutine 1 [running]:",
    "thread 'main' panicked at src/main.rs:4",
  ];
  for (const err of traces) expect(readOutput({ out: "", err }, NOTHING).trace).toBe(true);
  expect(readOutput({ out: "", err: "error: at 10:30:00 it failed" }, NOTHING).trace).toBe(false);
});

test("of a stack trace the line with the error is the complaint", () => {
  const traces = [
    '19 | if (!response.ok) fail("error")\n                ^\nTypeError: the connection broke\n      at /app/ask.ts:3:7\n',
    'Traceback (most recent call last):\n  File "error.py", line 3\n    raise TypeError("error")\nTypeError: the connection broke\n',
  ];
  for (const err of traces)
    expect(readOutput({ out: "", err }, NOTHING)).toMatchObject({
      complaint: "TypeError: the connection broke",
      trace: true,
    });
});

test("the last line stands for a complaint that the drill does not recognise", () => {
  const { complaint, lastWords } = readOutput(
    { out: "alfa1", err: "curl: (18) 500 bytes missing\n" },
    NOTHING,
  );
  expect([complaint, lastWords]).toEqual([undefined, "curl: (18) 500 bytes missing"]);
});
