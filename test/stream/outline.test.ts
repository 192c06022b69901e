/** The outline of a body: what it leaves out, what it keeps, and what it will not judge. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { elementsIn, LONGEST_KEPT, outline } from "../../src/stream/outline/outline.ts";
import { elementsOf } from "../../src/stream/scan.ts";
import { assemble, OUTLINE } from "../helpers/assemble-wasm.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const LONG = "x".repeat(LONGEST_KEPT + 1);

test("the module is the assembled source", async () => {
  const made = await assemble(OUTLINE);
  if (process.env["UPDATE"] === "1") await Bun.write(OUTLINE.assembled, made);
  expect(await Bun.file(OUTLINE.assembled).text()).toBe(made);
});

describe("what is left out", () => {
  const left = (value: unknown, indent = 0) =>
    JSON.parse(outline(bytes(JSON.stringify(value, null, indent)), 9)!.text);

  test("long strings become a tilde, short members stay", () => {
    const kept = "y".repeat(LONGEST_KEPT);
    expect(left({ a: LONG, b: kept, c: [LONG, 1], [LONG]: 2 })).toEqual({
      a: "~",
      b: kept,
      c: ["~", 1],
      "~": 2,
    });
  });

  test("inside of members only names and words stay", () => {
    const inside = {
      "é 1": "call_1",
      role: "a_word",
      empty: "",
      up: "A",
      mark: "a-b",
      line: "a\n",
      yes: true,
    };
    const outside = { "é 1": "~", role: "a_word", empty: "", up: "~", mark: "~", line: "~", yes: true };
    for (const indent of [0, 2])
      expect(left({ id: "call_1", a: inside }, indent)).toEqual({ id: "call_1", a: outside });
    // With a space in front of its colon a name cannot be told from a value.
    expect(JSON.parse(outline(bytes('{"a":{"N 1" : 2}}'), 9)!.text)).toEqual({ a: { "N 1": 2 } });
  });

  test("an object that stands in a top-level list again", () => {
    const [one, other, third] = [
      { role: "user", text: LONG },
      { role: "assistant" },
      { role: "user", text: "word" },
    ];
    expect(left({ a: [one, one] })).toEqual({ a: [one].map((item) => ({ ...item, text: "~" })) });
    expect(left({ a: [other, third, other, other, third, 1] })).toEqual({ a: [other, third, 1] });
    expect(left({ a: [other, other], b: [other], c: { d: [other, other] } })).toEqual({
      a: [other],
      b: [other],
      c: { d: [other, other] },
    });
    const many = Array.from({ length: 40 }, (_, n) => ({ [`name of the ${n % 20}`]: n % 20 }));
    expect(left({ a: many }).a).toEqual(many);
    expect(left({ a: many.map((_, n) => many[n % 8]) }).a).toEqual(many.slice(0, 8));
    expect(left({ a: [other, other, other], b: 2 }, 2).a.length).toBeLessThan(3);
  });

  test("never what would make sense of a text that has none", () => {
    const item = '{"role":"assistant"}';
    const broken = [
      ",,",
      `${item},,${item}`,
      `${item},${item},`,
      `,${item},${item}`,
      `${item}${item}`,
      `${item}:${item}`,
      `${item},${item}:${item}`,
      `${item},${item}]`,
      `${item},${item}}`,
      `${item},{${item}`,
    ];
    for (const list of broken) {
      const text = `{"a":[${list}],"b":1}`;
      expect(() => JSON.parse(outline(bytes(text), 9)?.text ?? text)).toThrow(SyntaxError);
    }
  });
});

test("spans are those of the body, whatever was left out in front", () => {
  const strings = fc.string({
    unit: fc.constantFrom("a", '"', "\\", "\n", "é", "𝄞", "\u0001", " "),
    maxLength: 90,
  });
  const values = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      strings,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      tie("list"),
      tie("group"),
    ),
    list: fc.array(tie("value"), { maxLength: 4 }),
    group: fc.dictionary(strings, tie("value"), { maxKeys: 4 }),
  })).group;
  withinBudget(
    fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
      const body = bytes(JSON.stringify(value, null, indent));
      const read = outline(body, 100)!;
      expect(read.members).toBe(Object.keys(value as object).length);
      for (const [key, member] of Object.entries(value as object)) {
        if (!/^[\w ]{0,30}$/.test(key)) continue;
        const { start, end } = read.spanOf(key)!;
        expect(JSON.parse(Buffer.from(body.subarray(start, end)).toString())).toEqual(member);
      }
    }),
  );
});

test("the elements of a list are those that a search by bytes finds", () => {
  const lists = fc.tuple(fc.array(fc.jsonValue(), { maxLength: 40 }), fc.nat(2), fc.string());
  fc.assert(
    fc.property(lists, ([list, indent, before]) => {
      const head = `{${JSON.stringify(before)}:`;
      const body = bytes(`${head}${JSON.stringify([...list, list[0] ?? null], null, indent)}}`);
      const span = { start: bytes(head).length, end: body.length - 1 };
      expect(elementsIn(body, span)).toEqual([...elementsOf(body, span)]);
    }),
  );
  const many = bytes(JSON.stringify(Array.from({ length: 5_000 }, () => 1)));
  expect(elementsIn(many, { start: 0, end: many.length })).toBeUndefined();
});

describe("left to the parser", () => {
  const cases: [string, string][] = [
    ["a string without an end", `{"a":"${LONG}`],
    ["a string that ends in a backslash", `{"a":"${LONG}\\`],
    ["a control character", `{"a":"${LONG}\u0001"}`],
    ["a line break in a string", `{"a":"${LONG}\n"}`],
    ["an escape that does not exist", `{"a":"${LONG}\\q"}`],
    ["a capital escape", `{"a":"${LONG}\\N"}`],
    ["too few digits", `{"a":"${LONG}\\u12"}`],
    ["digits that are none", `{"a":"${LONG}\\u12g4"}`],
    ["too many levels", '{"a":[[[[[[[[[[1]]]]]]]]]]}'],
    ["thousands of members", `{${Array.from({ length: 5_000 }, (_, n) => `"k${n}":1`).join()}}`],
  ];
  for (const [name, body] of cases) test(name, () => expect(outline(bytes(body), 9)).toBeUndefined());
});

test("a key that stands twice is counted twice, however it is spelled", () => {
  expect(outline(bytes('{"a":1,"a":2}'), 9)!.members).toBe(2);
  expect(outline(bytes('{"a":1,"\\u0061":2, "b" : 3}'), 9)!.members).toBe(3);
  expect(outline(bytes(" {} "), 9)!.members).toBe(0);
});

test("every escape there is, at every place of a block", () => {
  for (let before = 0; before < 40; before++)
    for (const escape of [
      '\\"',
      "\\\\",
      "\\/",
      "\\b",
      "\\f",
      "\\n",
      "\\r",
      "\\t",
      "\\u00e9",
      "\\uD834\\uDD1E",
    ]) {
      const body = `{"a":"${"x".repeat(before)}${escape}${LONG}","b":1}`;
      expect(JSON.parse(outline(bytes(body), 9)!.text)).toEqual({ a: "~", b: 1 });
    }
});

test("any bytes are read without a crash, and a larger body follows a smaller one", () => {
  withinBudget(fc.property(fc.uint8Array({ maxLength: 300 }), (input) => void outline(input, 10)));
  for (const size of [10, 1_000_000, 100, 3_000_000]) {
    const read = outline(bytes(JSON.stringify({ a: "x".repeat(size), b: [1] })), 9)!;
    expect(JSON.parse(read.text).b).toEqual([1]);
  }
  expect(outline(bytes(`{"a":"${"x".repeat(5_000_000)}"}`), 9)).toBeUndefined();
});
