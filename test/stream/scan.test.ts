import { expect, test } from "bun:test";
import fc from "fast-check";
import { editMembers, scanBody } from "../../src/stream/scan.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("the spans of top-level members are those of their values", () => {
  withinBudget(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = bytes(JSON.stringify(value, null, indent));
      const scan = scanBody(text, 1000);
      expect(scan.tooDeep).toBe(false);
      expect(scan.duplicate).toBeUndefined();
      expect([...scan.members.keys()]).toEqual(Object.keys(value));
      for (const [key, { start, end }] of scan.members)
        expect(JSON.parse(Buffer.from(text.subarray(start, end)).toString())).toEqual(
          JSON.parse(JSON.stringify(value[key])),
        );
    }),
  );
});

test("any bytes are scanned without a crash", () => {
  withinBudget(fc.property(fc.uint8Array({ maxLength: 200 }), (input) => void scanBody(input, 10)));
});

test("a top-level key that stands twice is named, also when it is spelled with escapes", () => {
  expect(scanBody(bytes('{"model":"a","x":{"model":1},"model":"b"}'), 9).duplicate).toBe("model");
  expect(scanBody(bytes('{"model":"a","mod\\u0065l":"b"}'), 9).duplicate).toBe("model");
  expect(scanBody(bytes('{"a":{"x":1,"x":2}}'), 9).duplicate).toBeUndefined();
});

test("depth is counted outside of strings only", () => {
  expect(scanBody(bytes('{"a":"[[[[[[[["}'), 2).tooDeep).toBe(false);
  expect(scanBody(bytes('{"a":[[1]]}'), 2).tooDeep).toBe(true);
  expect(scanBody(bytes("[".repeat(1_000_000)), 128).tooDeep).toBe(true);
});

const edit = (text: string, edits: Record<string, string | undefined>) => {
  const body = bytes(text);
  const { members } = scanBody(body, 99);
  return Buffer.concat(
    editMembers(body, new Map(Object.entries(edits)), (name) => members.get(name)),
  ).toString();
};

test("a member's value is exchanged and every other byte stays", () => {
  expect(edit('{ "a" : 1 , "model":  "gpt\\u002d4" , "z":[ ] }', { model: '"x\\"y"' })).toBe(
    '{ "a" : 1 , "model":  "x\\"y" , "z":[ ] }',
  );
});

test("a member is removed with one comma, wherever it stands", () => {
  const body = '{ "a" : 1 , "b\\"":2,"c":[3,"}"]\t}';
  expect(edit(body, { a: undefined })).toBe('{  "b\\"":2,"c":[3,"}"]\t}');
  expect(edit(body, { 'b"': undefined })).toBe('{ "a" : 1 , "c":[3,"}"]\t}');
  expect(edit(body, { c: undefined })).toBe('{ "a" : 1 , "b\\"":2\t}');
  expect(edit(body, { 'b"': undefined, c: undefined })).toBe('{ "a" : 1 \t}');
  expect(edit(body, { a: undefined, 'b"': undefined, c: undefined })).toBe("{ \t}");
  expect(edit(body, { absent: undefined })).toBe(body);
});

test("a member is added behind the opening brace", () => {
  expect(edit(' { "a":1e400}', { x: "{}", y: "2" })).toBe(' {"x":{},"y":2, "a":1e400}');
  expect(edit("{ }", { x: "1" })).toBe('{"x":1 }');
  expect(edit('{"a":1}', { a: undefined, x: "1" })).toBe('{"x":1}');
});

test("edited bytes are the JSON of the edited object, at any mix of edits", () => {
  const key = fc.constantFrom("a", "b", 'q"', "back\\slash", "ü", "_", "{", ",");
  withinBudget(
    fc.property(
      fc.dictionary(key, fc.jsonValue(), { noNullPrototype: true }),
      fc.dictionary(key, fc.option(fc.jsonValue(), { nil: undefined }), { noNullPrototype: true }),
      fc.constantFrom(0, 1, 2),
      (value, changes, indent) => {
        const edits = Object.fromEntries(
          Object.entries(changes).map(([name, to]) => [
            name,
            to === undefined ? undefined : JSON.stringify(to),
          ]),
        );
        const text = edit(JSON.stringify(value, null, indent), edits);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ ...value, ...changes })));
      },
    ),
  );
});
