import { expect, test } from "bun:test";
import fc from "fast-check";
import { scanBody, spliceMember } from "../../src/stream/scan.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("the spans of top-level members are those of their values", () => {
  fc.assert(
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
    { numRuns: 2000 },
  );
});

test("any bytes are scanned without a crash", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (input) => void scanBody(input, 10)),
    { numRuns: 3000 },
  );
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

test("a member's value is exchanged and every other byte stays", () => {
  const text = bytes('{ "a" : 1 , "model":  "gpt\\u002d4" , "z":[ ] }');
  const span = scanBody(text, 9).members.get("model")!;
  expect(Buffer.concat(spliceMember(text, span, 'x"y')).toString()).toBe(
    '{ "a" : 1 , "model":  "x\\"y" , "z":[ ] }',
  );
});
