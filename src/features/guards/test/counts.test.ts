/** A value counts once, also where the events of a stream say it again as a whole. */
import { expect, test } from "bun:test";
import { Call } from "../../../core/call.ts";
import type { Text } from "../../../core/text-places.ts";
import { Guard } from "../guard.ts";
import { Output } from "../pass/output.ts";
import { CallMap } from "../replace/call-map.ts";
import { Verdicts } from "../verdicts.ts";

const SECRET = new Uint8Array(32);
const PIECE: Text = { kind: "text", path: "delta" };
const WHOLE: Text = { kind: "text", path: "text" };

function outputOf(): { output: Output; verdicts: Verdicts } {
  const guard = new Guard({ name: "pii", find: ["email"], do: "mask" });
  const verdicts = new Verdicts([guard], new Call("req_1", "responses", new Headers()), SECRET);
  return { output: new Output([guard], new CallMap(SECRET), verdicts), verdicts };
}

const ANNA = "to anna@example.com ";
const BOB = "to bob@example.com ";

test("pieces first, and then the same as a whole, several times", () => {
  const { output, verdicts } = outputOf();
  output.judge(ANNA, PIECE, true);
  for (let times = 0; times < 3; times++) output.whole(ANNA, WHOLE, true);
  expect(verdicts.words()).toBe("pii=masked:1");
});

test("the whole first, and then its pieces", () => {
  const { output, verdicts } = outputOf();
  output.whole(ANNA, WHOLE, true);
  output.judge(ANNA, PIECE, true);
  expect(verdicts.words()).toBe("pii=masked:1");
});

test("a value that a text has twice counts twice, and one that only the whole has counts", () => {
  const { output, verdicts } = outputOf();
  output.judge(ANNA, PIECE, true);
  output.judge(ANNA, PIECE, true);
  output.whole(ANNA + BOB + ANNA, WHOLE, true);
  expect(verdicts.words()).toBe("pii=masked:3");
});

test("texts that repeat nothing count each time", () => {
  const { output, verdicts } = outputOf();
  output.whole(ANNA, WHOLE);
  output.whole(ANNA, WHOLE);
  expect(verdicts.words()).toBe("pii=masked:2");
});
