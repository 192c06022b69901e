/** Lines of a program, its pace, and what it wrote last. */
import { expect, test } from "bun:test";
import { LineBuffer, LineTooLong, readLine } from "../../servers/stdio/lines.ts";
import { Pace } from "../../servers/stdio/pace.ts";
import { Ring } from "../../servers/stdio/ring.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (buffer: LineBuffer, piece: string) =>
  Array.from(buffer.take(bytes(piece)), (line) => new TextDecoder().decode(line));

test("pieces of any size make the same lines", () => {
  const all = '{"a":"ü"}\n\n{"b":2}\r\nlast\nrest';
  const whole = texts(new LineBuffer(), all);
  expect(whole).toEqual(['{"a":"ü"}', "", '{"b":2}\r', "last"]);
  for (const size of [1, 2, 3, 7]) {
    const buffer = new LineBuffer();
    const found: string[] = [];
    const given = bytes(all);
    for (let at = 0; at < given.length; at += size)
      for (const line of buffer.take(given.subarray(at, at + size)))
        found.push(new TextDecoder().decode(line));
    expect(found).toEqual(whole);
  }
});

test("a line has at most its bytes, in one piece or many", () => {
  expect(texts(new LineBuffer(4), "1234\n12")).toEqual(["1234"]);
  expect(() => texts(new LineBuffer(4), "12345\n")).toThrow(LineTooLong);
  expect(() => texts(new LineBuffer(4), "12345")).toThrow(LineTooLong);
  const buffer = new LineBuffer(4);
  expect(texts(buffer, "123")).toEqual([]);
  expect(texts(buffer, "4\n1")).toEqual(["1234"]);
  expect(() => texts(buffer, "2345\n")).toThrow(LineTooLong);
});

test("what a line is", () => {
  const kindOf = (text: string) => readLine(bytes(text));
  expect(kindOf('{"id":1}')).toEqual({ kind: "told", messages: [{ id: 1 }] });
  expect(kindOf('\ufeff[{"id":1},{"id":2}]\r')).toEqual({ kind: "told", messages: [{ id: 1 }, { id: 2 }] });
  for (const blank of ["", "  ", "\t\r"]) expect(kindOf(blank)).toEqual({ kind: "blank" });
  for (const other of ["hello", "[]", "1", '"a"', "[1]", "null", '{"a":'])
    expect(kindOf(other).kind).toBe("other");
  expect(readLine(new Uint8Array([0x22, 0xff, 0x22]))).toEqual({ kind: "other", why: "is not valid UTF-8" });
  expect(kindOf(`{${Array.from({ length: 65 }, (_, at) => `"${at}":1`)}}`).kind).toBe("other");
  const big = '{"n":12345678901234567890}';
  expect(JSON.stringify(kindOf(big))).toContain(big);
});

test("a message may be nested 64 deep; of a deeper one only its id is read", () => {
  const nested = (depth: number) => `{"result":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)},"id":"7"}`;
  expect(readLine(bytes(nested(64))).kind).toBe("told");
  expect(readLine(bytes(nested(65)))).toEqual({ kind: "unread", id: "7", why: "is nested too deeply" });
  const began = performance.now();
  expect(readLine(bytes(nested(4_000_000)))).toEqual({
    kind: "unread",
    id: "7",
    why: "is nested too deeply",
  });
  expect(performance.now() - began).toBeLessThan(1000);
  expect(readLine(bytes("[".repeat(100)))).toEqual({
    kind: "unread",
    id: undefined,
    why: "is nested too deeply",
  });
});

test("a message may have a million values", () => {
  const many = (values: number) => `{"result":{"a":[${"{},".repeat(values - 1)}{}]},"id":8}`;
  // Each has a brace and a comma.
  expect(readLine(bytes(many(499_000))).kind).toBe("told");
  expect(readLine(bytes(many(501_000)))).toEqual({ kind: "unread", id: 8, why: "has too many values" });
  const text = JSON.stringify({ result: { text: "{,[".repeat(1_000_000) }, id: 9 });
  expect(readLine(bytes(text)).kind).toBe("told");
});

test("a reader rests when more comes than it may, and lets others have their turn", async () => {
  const pace = new Pace({ burst: 10, perSecond: 100 });
  pace.begin();
  pace.spend(10);
  expect(pace.rest()).toBeUndefined();
  pace.spend(20);
  const began = performance.now();
  for (let rest = pace.rest(); rest; rest = pace.rest()) await rest;
  const ms = performance.now() - began;
  expect(ms).toBeGreaterThan(100);
  expect(ms).toBeLessThan(600);
  // The rate holds when units come one by one.
  const since = performance.now();
  for (let unit = 0; unit < 30; unit++) {
    pace.spend(1);
    for (let rest = pace.rest(); rest; rest = pace.rest()) await rest;
  }
  expect(performance.now() - since).toBeWithin(200, 450);
  pace.begin();
  for (const end = performance.now() + 10; performance.now() < end;);
  let hadTurn = false;
  setImmediate(() => (hadTurn = true));
  await pace.rest();
  expect(hadTurn).toBe(true);
});

test("a ring keeps the last bytes", () => {
  const ring = new Ring(8);
  expect(ring.text).toBe("");
  let all = "";
  for (const piece of ["ab", "cdefg", "h", "i", "jklmnopqrstuvw", "", "xy", "12345678"]) {
    ring.add(bytes(piece));
    all += piece;
    expect(ring.text).toBe(all.slice(-8));
  }
});
