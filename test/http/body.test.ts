/** Framings taken off: the same bytes however the connection cuts them, and nothing invented. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createBodyReader } from "../../src/http/body.ts";
import { HttpError } from "../../src/http/error.ts";
import { withinBudget } from "../helpers/within-budget.ts";

/** Feeds `wire` cut at `cuts`; gives the body and what was left unread. */
function read(kind: "chunked" | number, wire: Buffer, cuts: readonly number[]) {
  const reader = createBodyReader(kind === "chunked" ? { kind } : { kind: "length", length: kind });
  const out: Uint8Array[] = [];
  let taken = 0;
  const edges = [...new Set(cuts.map((cut) => cut % (wire.length + 1)))].sort((a, b) => a - b);
  for (const [start, end] of [...edges, wire.length].map((end, at) => [edges[at - 1] ?? 0, end] as const)) {
    if (reader.done || end === start) continue;
    taken += reader.read(wire.subarray(start, end), 0, out);
  }
  return { body: Buffer.concat(out).toString("latin1"), done: reader.done, left: wire.length - taken };
}

function chunked(pieces: readonly string[], extension: string, trailer: string): Buffer {
  const chunks = pieces
    .filter((piece) => piece !== "")
    .map((piece) => `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`);
  return Buffer.from(`${chunks.join("")}0\r\n${trailer}\r\n`, "latin1");
}

test("chunks are joined at any cut, with extensions and trailers", () => {
  const wires = fc.record({
    pieces: fc.array(fc.string({ unit: "binary-ascii", maxLength: 40 }), { maxLength: 8 }),
    extension: fc.constantFrom("", ";a", ";a=b", '  ;x="y"'),
    trailer: fc.constantFrom("", "X: y\r\n", "A: b\r\nC: d\r\n"),
    cuts: fc.array(fc.nat(600), { maxLength: 12 }),
    behind: fc.constantFrom("", "HTTP/1.1 200 OK\r\n\r\n"),
  });
  withinBudget(
    fc.property(wires, ({ pieces, extension, trailer, cuts, behind }) => {
      const wire = Buffer.concat([chunked(pieces, extension, trailer), Buffer.from(behind)]);
      const { body, done } = read("chunked", wire, cuts);
      expect(body).toBe(pieces.join(""));
      expect(done).toBe(true);
    }),
  );
});

test("a cut-off chunked body is never whole", () => {
  const wire = chunked(["hello", "world"], ";x", "T: u\r\n");
  for (let end = 0; end < wire.length; end++)
    expect(read("chunked", wire.subarray(0, end), []).done).toBe(false);
  expect(read("chunked", wire, []).done).toBe(true);
});

test("a length is met exactly", () => {
  expect(read(5, Buffer.from("helloHTTP"), [2])).toEqual({ body: "hello", done: true, left: 4 });
  expect(read(5, Buffer.from("hell"), [])).toEqual({ body: "hell", done: false, left: 0 });
  expect(createBodyReader({ kind: "length", length: 0 }).done).toBe(true);
});

describe("a chunked body that breaks the rules is refused", () => {
  const cases = [
    "\r\nhello",
    "g\r\n",
    "-1\r\n",
    "0x5\r\nhello",
    "5\nhello\r\n",
    "5\r\nhelloX\r\n",
    "5\r\nhello\n",
    "5;a\nhello",
    "123456789\r\n",
    "5\rXhello",
    "+5\r\nhello\r\n",
    `5;${"x".repeat(2_000)}`,
    "0\r\nX: y\n\r\n",
    `0\r\n${"x".repeat(20_000)}`,
  ];
  for (const wire of cases)
    test(JSON.stringify(wire.slice(0, 30)), () => {
      expect(() => read("chunked", Buffer.from(wire), [])).toThrow(HttpError);
    });
});
