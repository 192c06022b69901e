/** Inputs of batches: what is wrong with them, where their lines are, and that weir never holds a whole one. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkInput, type InputCheck } from "../lines/check-input.ts";
import { checkLine, isFault } from "../lines/check-line.ts";
import { type InputLine, readLines } from "../lines/read-lines.ts";
import { chunksOf } from "./chunks.ts";

const ENDPOINT = "/v1/chat/completions";
const GOOD = line("good");

function line(id: string, body: string = `{"model":"m","messages":[]}`, url = ENDPOINT): string {
  return `{"custom_id":${JSON.stringify(id)},"method":"POST","url":"${url}","body":${body}}`;
}

async function check(input: string | Uint8Array, more: Partial<InputCheck> = {}, ...sizes: number[]) {
  return await checkInput(chunksOf(input, ...sizes), { endpoint: ENDPOINT, lines: 10, ...more });
}

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** What is wrong with an input: `code@line param`. */
const BAD: Record<string, [input: string | Uint8Array, faults: string[], more?: Partial<InputCheck>]> = {
  "no bytes": ["", ["empty_file"]],
  "a line break": ["\n", ["empty_file"]],
  "blank lines": [" \r\n\t\n\n", ["empty_file"]],
  "a byte order mark": ["\ufeff", ["empty_file"]],
  "one line too many": [[line("a"), line("b"), line("c")].join("\n"), ["too_many_tasks@3"], { lines: 2 }],
  text: ["hello", ["invalid_json_line@1"]],
  "an object without its end": [GOOD.slice(0, -1), ["invalid_json_line@1"]],
  "two objects in a line": [GOOD + GOOD, ["invalid_json_line@1"]],
  "a comma behind the object": [`${GOOD},`, ["invalid_json_line@1"]],
  "a list": ["[1]", ["invalid_json_line@1"]],
  "a number": ["7", ["invalid_json_line@1"]],
  null: ["null", ["invalid_json_line@1"]],
  "a text in quotes": ['"a"', ["invalid_json_line@1"]],
  "a pretty object": [
    JSON.stringify(JSON.parse(GOOD), null, 1),
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `invalid_json_line@${n}`),
  ],
  "a blank line in the middle": [`${GOOD}\n\n${line("b")}`, ["invalid_json_line@2"]],
  "blank lines in the middle and at the end": [
    `${GOOD}\r\n \r\n\r\n${line("b")}\r\n\r\n`,
    ["invalid_json_line@2", "invalid_json_line@3"],
  ],
  "bytes that are no UTF-8": [Buffer.from(line("caf\u00e9"), "latin1"), ["invalid_json_line@1"]],
  "UTF-16": [Buffer.from(GOOD, "utf16le"), ["invalid_json_line@1"]],
  "a null byte": [`${GOOD}\0`, ["invalid_json_line@1"]],
  "a member twice": [GOOD.replace("{", '{"custom_id":"x",'), ["invalid_json_line@1"]],
  "a member twice, once with an escape": [
    GOOD.replace("{", '{"custom\\u005fid":"x",'),
    ["invalid_json_line@1"],
  ],
  "too many levels": [line("a", `{"model":"m","x":${nested(200)}}`), ["invalid_json_line@1"]],
  "100,000 levels": [nested(100_000), ["invalid_json_line@1"]],
  "no custom_id": [GOOD.replace('"custom_id":"good",', ""), ["missing_required_parameter@1 custom_id"]],
  "an empty custom_id": [line(""), ["missing_required_parameter@1 custom_id"]],
  "a custom_id that is a number": [GOOD.replace('"good"', "1"), ["invalid_value@1 custom_id"]],
  "a custom_id of 257 characters": [line("i".repeat(257)), ["string_above_max_length@1 custom_id"]],
  "no method": [GOOD.replace('"method":"POST",', ""), ["missing_required_parameter@1 method"]],
  "another method": [GOOD.replace("POST", "GET"), ["invalid_method@1 method"]],
  "a method in small letters": [GOOD.replace("POST", "post"), ["invalid_method@1 method"]],
  "no url": [GOOD.replace(`"url":"${ENDPOINT}",`, ""), ["missing_required_parameter@1 url"]],
  "another url": [line("a", undefined, "/v1/responses"), ["url_mismatch@1 url"]],
  "a url with a host": [line("a", undefined, `https://host${ENDPOINT}`), ["url_mismatch@1 url"]],
  "no body": [`{"custom_id":"a","method":"POST","url":"${ENDPOINT}"}`, ["missing_required_parameter@1 body"]],
  "a body that is a text": [line("a", '"{}"'), ["invalid_body@1 body"]],
  "a body that is null": [line("a", "null"), ["invalid_body@1 body"]],
  "a member of the body twice": [line("a", '{"model":"m","n":1,"n":2}'), ["invalid_body@1 body.n"]],
  "1,001 members": [
    line("a", `{"model":"m",${Array.from({ length: 1000 }, (_, n) => `"m${n}":1`).join()}}`),
    ["invalid_body@1 body"],
  ],
  "a stream": [line("a", '{"model":"m","stream":true}'), ["stream_not_supported@1 body.stream"]],
  "no model": [line("a", "{}"), ["missing_required_parameter@1 body.model"]],
  "a model that is a list": [line("a", '{"model":[]}'), ["invalid_body@1 body.model"]],
  "a custom_id twice": [`${GOOD}\n${line("b")}\n${GOOD}`, ["duplicate_custom_id@3 custom_id"]],
  "a custom_id twice, spelled in two ways": [
    `${GOOD}\n${line("g").replace('"g"', '"\\u0067ood"')}`,
    ["duplicate_custom_id@2 custom_id"],
  ],
  "a long custom_id twice": [
    `${line("\ud800".repeat(99))}\n${line("\ud800".repeat(99))}`,
    ["duplicate_custom_id@2 custom_id"],
  ],
  "two models where one is allowed": [
    `${GOOD}\n${line("b", '{"model":"n"}')}`,
    ["model_mismatch@2 body.model"],
    { oneModel: true },
  ],
  "a line that is too large": [
    `${line("a", `{"model":"m","x":"${"x".repeat(2000)}"}`)}\n${line("b")}\nx`,
    ["line_too_large@1", "invalid_json_line@3"],
    { lineBytes: 1000 },
  ],
  "too many texts to embed": [
    `${line("a", `{"model":"m","input":[${"[1,2],".repeat(49_999)}"x"]}`, "/v1/embeddings")}\n${line("b", '{"model":"m","input":[1,2]}', "/v1/embeddings")}`,
    ["too_many_tasks@2 body.input"],
    { endpoint: "/v1/embeddings" },
  ],
  "several faults": [
    `x\n${line("a")}\n${line("a")}\n${line("b", "[]")}\n[]`,
    ["invalid_json_line@1", "duplicate_custom_id@3 custom_id", "invalid_body@4 body", "invalid_json_line@5"],
  ],
};

test("there are forty bad inputs", () => expect(Object.keys(BAD).length).toBeGreaterThanOrEqual(40));

for (const [what, [input, expected, more]] of Object.entries(BAD))
  test(`an input with ${what} has the right faults, in chunks of any size`, async () => {
    for (const size of [1_000_000, 7, 1].filter((one) => one > 1 || input.length < 5000)) {
      const { faults } = await check(input, more, size);
      expect(
        faults.map(({ code, line, param }) => `${code}${line ? `@${line}` : ""}${param ? ` ${param}` : ""}`),
      ).toEqual(expected);
      for (const { message } of faults) expect(message).toMatch(/^[A-Z`].*\.$/);
    }
  });

test("inputs that look bad and are good", async () => {
  const good = [
    `\ufeff${GOOD}\r\n${line("b")}\r\n\r\n`,
    `  ${GOOD}\t\n`,
    // The same word in two forms of Unicode.
    `${line("\u00e9")}\n${line("e\u0301")}`,
    // Lone surrogates have one form in UTF-8, and lines write them as escapes.
    `${line(`${"x".repeat(99)}\ud800`)}\n${line(`${"x".repeat(99)}\ud801`)}`,
    line("i".repeat(256)),
    line("a", `{"model":"m","x":${nested(120)}}`),
    line("a", '{"stream":false,"model":"m","metadata":{"stream":true,"a":1,"b":2}}'),
  ];
  for (const input of good) expect(await check(input, {}, 3)).toMatchObject({ faults: [] });
});

test("a check ends with the hundredth fault, also among blank lines", async () => {
  const bad = await check(Array.from({ length: 500 }, () => "x").join("\n"), { lines: 1000 });
  expect(bad.faults).toHaveLength(100);
  expect(bad.faults.at(-1)).toMatchObject({ code: "invalid_json_line", line: 100 });
  const blank = await check(`${"\n".repeat(500)}${GOOD}`, { lines: 1000 });
  expect(blank.faults.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
});

test("a visitor gets the body and may refuse the line", async () => {
  const { faults } = await check(`${GOOD}\n${line("b", '{"model":"secret"}')}`, {
    visit: ({ model }, body, number) =>
      model === "secret"
        ? { code: "model_not_allowed", line: number, message: Buffer.from(body).toString() }
        : undefined,
  });
  expect(faults).toEqual([{ code: "model_not_allowed", line: 2, message: '{"model":"secret"}' }]);
});

test("the body of a line is its exact bytes: numbers, order, escapes and unknown members", () => {
  const body =
    '{ "z":1.0e+02, "n":123456789012345678901234567890, "model":"m" , "a":"\\u00e9\\/", "k":{"b":1,"b":2} }';
  const bytes = Buffer.from(
    `  {"body": ${body} ,"custom_id":"\\u0061","url":"\\/v1\\/chat\\/completions","method":"POST","more":[{"body":1}]} `,
  );
  const checked = checkLine(bytes, 1, { endpoint: ENDPOINT });
  if (isFault(checked)) throw new Error(checked.message);
  expect(bytes.toString("utf8", checked.bodyStart, checked.bodyEnd)).toBe(body);
  expect(checked).toMatchObject({ customId: "a", model: "m", url: ENDPOINT, method: "POST" });
});

test("the model of a path with a method needs no member", () => {
  const endpoint = "/v1beta/models/some-model:generateContent";
  expect(checkLine(Buffer.from(line("a", '{"contents":[]}', endpoint)), 1, { endpoint })).toMatchObject({
    model: "some-model",
  });
});

test("lines and their places are the same in chunks of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.constantFrom("", "\r", "a\r", "\ufeff")),
      ),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (texts, sizes, isMarked) => {
        const input = Buffer.from((isMarked ? "\ufeff" : "") + texts.join("\n"));
        const seen: (Omit<InputLine, "bytes"> & { text: string })[] = [];
        for await (const { bytes, ...rest } of readLines(chunksOf(input, ...sizes), { line: 40 }))
          seen.push({ ...rest, text: Buffer.from(bytes).toString() });
        // Told apart in a simple way: the whole text, split.
        const whole = input.toString("latin1").replace(/^\xef\xbb\xbf/, "");
        const expected = whole.split("\n").map((one) => one.replace(/\r$/, ""));
        if (whole === "" || whole.endsWith("\n")) expected.pop();
        const isOnlyMark = whole === "" && input.length > 0;
        expect(seen.map((one) => one.number)).toEqual((isOnlyMark ? [""] : expected).map((_, at) => at + 1));
        for (const [at, one] of (isOnlyMark ? [] : seen).entries()) {
          const bytes = Buffer.from(expected[at]!, "latin1");
          expect(one.isTooLarge).toBe(bytes.length > 40);
          if (one.isTooLarge) continue;
          expect(one.text).toBe(bytes.toString());
          expect(input.subarray(one.offset, one.offset + one.length)).toEqual(bytes);
        }
      },
    ),
    { seed: 3, numRuns: 2000 },
  );
});

test("the index of an input leads to each line, also behind 100 inputs of the first table", async () => {
  const lines = Array.from({ length: 3000 }, (_, at) => line(`é${at}`));
  const input = Buffer.from(`\ufeff${lines.join("\r\n")}\r\n`);
  const { offsets, lengths, models, ...checked } = await check(input, { lines: 3000 }, 4096);
  expect(checked).toEqual({ lines: 3000, faults: [] });
  expect(models).toEqual(new Map([["m", 3000]]));
  expect([...offsets].map((start, at) => input.toString("utf8", start, start + lengths[at]!))).toEqual(lines);
});
