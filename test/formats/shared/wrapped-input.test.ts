/** The text of a free-form tool, read out of the object it travels in, at every chunking. */
import { expect, test } from "bun:test";
import { WrappedInput } from "../../../src/formats/shared/wrapped-input.ts";

const TEXTS = ["", "x", 'a "quoted" \\ line\n\ttab', "grüße 😀 and 😀😀", "\u0000\u001f", "\ud83d alone"];

/** Every character as an escape, as some servers write all that is not ASCII. */
const escaped = (text: string) =>
  [...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("");

function read(json: string, size: number): string[] {
  const input = new WrappedInput();
  const pieces: string[] = [];
  for (let at = 0; at < json.length; at += size) pieces.push(input.push(json.slice(at, at + size)));
  return [...pieces, input.end()];
}

test.each(TEXTS)("a wrapped text is unwrapped at every chunking: %j", (text) => {
  for (const json of [JSON.stringify({ input: text }), `{ "input" : "${escaped(text)}"}`])
    for (const size of [1, 2, 3, 5, 1000]) expect(read(json, size).join("")).toBe(text);
});

test("no fragment ends between the halves of an escaped surrogate pair", () => {
  for (const size of [1, 2, 3, 5, 7])
    for (const piece of read(`{"input":"${escaped("a😀b😀")}"}`, size))
      expect(piece.isWellFormed()).toBeTrue();
});

test("an object that looks otherwise is given whole at the end", () => {
  expect(read('{"other":1}', 3).join("")).toBe('{"other":1}');
  expect(read('{"x":0,"input":"late"}', 3).join("")).toBe("late");
  expect(read("plain text", 4).join("")).toBe("plain text");
});
