/** The head of an answer: what is read, and what is refused because two readers could understand it differently. */
import { describe, expect, test } from "bun:test";
import { HttpError } from "../../src/http/error.ts";
import { parseHead } from "../../src/http/head.ts";

const head = (...lines: string[]) => parseHead(lines.join("\r\n"));

test("a head gives the status, the headers and the framing of the body", () => {
  const read = head("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length:  12 ", "X-Empty:");
  expect(read.status).toBe(200);
  expect(read.headers.get("content-type")).toBe("application/json");
  expect(read.headers.get("x-empty")).toBe("");
  expect(read.headers.get("absent")).toBeNull();
  expect(read.framing).toEqual({ kind: "length", length: 12 });
  expect(read.keepAlive).toBe(true);
});

test("a header that stands several times is one list, visited once", () => {
  const { headers } = head("HTTP/1.1 200", "Content-Length: 0", "Via: a", "X: 1", "via: b");
  const visited: string[] = [];
  headers.forEach((value, name) => visited.push(`${name}=${value}`));
  expect(visited).toEqual(["content-length=0", "via=a, b", "x=1"]);
});

describe("where the body ends", () => {
  const cases: [string[], object, boolean][] = [
    [["HTTP/1.1 200 OK", "Transfer-Encoding: Chunked"], { kind: "chunked" }, true],
    [["HTTP/1.1 200 OK"], { kind: "close" }, false],
    [["HTTP/1.1 204 No Content"], { kind: "length", length: 0 }, true],
    [["HTTP/1.1 304 Not Modified", "Content-Length: 5"], { kind: "length", length: 0 }, true],
    [["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 5"], { kind: "length", length: 5 }, true],
    [["HTTP/1.1 200 OK", "Content-Length: 5", "Connection: close"], { kind: "length", length: 5 }, false],
    [["HTTP/1.1 200 OK", "Content-Length: 5", "Connection: x, Close"], { kind: "length", length: 5 }, false],
    [["HTTP/1.0 200 OK", "Content-Length: 5"], { kind: "length", length: 5 }, false],
    [["HTTP/1.0 200 OK", "Content-Length: 5", "Connection: keep-alive"], { kind: "length", length: 5 }, true],
  ];
  for (const [lines, framing, keepAlive] of cases)
    test(lines.join(" | "), () => {
      const read = head(...lines);
      expect(read.framing).toEqual(framing as typeof read.framing);
      expect(read.keepAlive).toBe(keepAlive);
    });
});

describe("a head that breaks the rules, or could be read in two ways, is refused", () => {
  const OK = "HTTP/1.1 200 OK";
  const cases: [string, string[]][] = [
    ["both framings", [OK, "Content-Length: 5", "Transfer-Encoding: chunked"]],
    ["two lengths", [OK, "Content-Length: 5", "Content-Length: 6"]],
    ["two lengths in one line", [OK, "Content-Length: 5, 6"]],
    ["a signed length", [OK, "Content-Length: +5"]],
    ["a negative length", [OK, "Content-Length: -5"]],
    ["a hexadecimal length", [OK, "Content-Length: 0x5"]],
    ["an empty length", [OK, "Content-Length:"]],
    ["an immense length", [OK, "Content-Length: 99999999999999999999"]],
    ["another transfer encoding", [OK, "Transfer-Encoding: gzip"]],
    ["a list of transfer encodings", [OK, "Transfer-Encoding: gzip, chunked"]],
    ["chunked twice", [OK, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]],
    ["a disguised transfer encoding", [OK, "Transfer-Encoding: xchunked"]],
    ["a space before the colon", [OK, "Content-Length : 5"]],
    ["a folded line", [OK, "X: a", " b"]],
    ["a line without a colon", [OK, "nonsense"]],
    ["a name of spaces", [OK, " : x"]],
    ["an empty name", [OK, ": x"]],
    ["a bare LF", [OK, "X: a\nContent-Length: 5"]],
    ["a bare CR", [OK, "X: a\rContent-Length: 5"]],
    ["a NUL", [OK, "X: a\0b"]],
    ["a vertical tab", [OK, "Transfer-Encoding:\vchunked"]],
    ["another protocol", ["HTTP/2 200 OK"]],
    ["a status of two digits", ["HTTP/1.1 20 OK"]],
    ["a status of letters", ["HTTP/1.1 abc OK"]],
    ["no status line", ["hello"]],
    ["nothing", [""]],
    ["thousands of headers", [OK, ...Array.from({ length: 300 }, (_, n) => `x-${n}: 1`)]],
  ];
  for (const [name, lines] of cases)
    test(name, () => {
      expect(() => head(...lines)).toThrow(HttpError);
    });
});

test("a value of nothing but spaces costs no time", () => {
  const started = performance.now();
  head("HTTP/1.1 200 OK", "Content-Length: 0", `X:${" ".repeat(60_000)}\t`, `Y:${" ".repeat(30_000)}a`);
  expect(performance.now() - started).toBeLessThan(500);
});
