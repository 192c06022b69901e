/** What is JSON and what is not, at several places of a body: the short way to a verdict and the parser say the same. */
import { describe, expect, test } from "bun:test";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { RequestBody } from "../../src/server/request-body.ts";

const LONG = "a text that is long enough to be cut out of the outline";

/** Values of RFC 8259. */
const VALUES = String.raw`
null | true | false | 0 | -0 | 1 | -1 | 10 | 0.5 | -0.5 | 1.25 | 0e1 | 0e+1 | 0E-1 | 1e2 | 1E2 | 1e+2 | 1E+2 | 1e-2
1E22 | 123.456e78 | 1e999 | -1e999 | 1e-999 | 123456789012345678901234567890 | -123123123123123123123123123123
0.4e00669999999999999999999999999999999999999999999999969999999006 | 0.000000000000000000000000000000000000000001
"" | "a" | " " | "\"" | "\\" | "\/" | "\b" | "\f" | "\n" | "\r" | "\t" | "\u0000" | "\u0061" | "\uABCD" | "\uabcd"
"\u0060\u012a\u12AB" | "\ud801\udc37" | "\ud83d\ude39\ud83d\udc8d" | "\uFFFF" | "\u2028\u2029" | "\u0022" | "\u005C"
"\\u0000" | "\\\\" | "\\\"" | "a/*b*/c" | "\\a" | "\\n" | "\u200B" | "\u2064" | "\uFDD0" | "\uFFFE" | "\uDBFF\uDFFF"
"\ud800" | "\udc00" | "\uD800\n" | "\uDd1ea" | "\ud800\ud800" | "\uDFAA" | "\ud800abc" | "\udc00\ud800"
"[" | "{" | "]" | "}" | "," | ":" | "~" | "'" | "{\"a\":1}"
[] | [ ] | {} | { } | [[]] | [{}] | {"":0} | {"a":[]} | {"a":{}} | [1,2] | [ 1 , 2 ] | ["a",null,1,"1",{}] | [[[[[1]]]]]
{"a":1,"a":2} | {"a":1,"\u0061":2} | {"__proto__":1} | {"__proto__":{"a":1}} | {"constructor":1} | {"a":"b","a":"b"}
{"foo\u0000bar":42} | {"min":-1.0e+28,"max":1.0e+28} | {"title":"\u041f\u043e"} | {"a" : "b" , "c":[true , false]}
`;

const NO_VALUES = String.raw`
nul | nulll | Null | TRUE | True | tru | truth | fals | undefined | NaN | -NaN | Infinity | -Infinity | +Infinity | Inf
01 | -01 | 00 | 012 | -012 | 1.e1 | 1. | .5 | -.5 | 2.e3 | 2.e+3 | 0.e1 | 0e | 0e+ | 0E | 0E+ | 1.0e | 1.0e- | 1.0e+ | 1eE2
+1 | ++1 | -- | - | -foo | - 1 | 1 2 | 1 000.0 | 0x1 | 0x42 | 1_000 | 1a | 1.2a-3 | 1.8011670033376514H-308 | 9.e+ | 0.3e | 0.3e+
1/2 | 1+2 | 1,, | e1 | .2e-3 | -2. | 0.1.2 | --2. | -1x | 1ea
'a' | 'a" | "a' | a | a" | "a | "\" | "\\\" | "\a" | "\x00" | "\'" | "\v" | "\0" | "\N" | "\U0061" | "\u" | "\u1" | "\u12"
"\u123" | "\u123g" | "\u00A" | "\uD834\uDd" | "\uD800\u" | "\uD800\u1" | "\uD800\u1x" | "\u{61}" | "\ " | "\u-123" | "\u 123"
"" | ""a | "a""b" | "a" "b" | "a":"b" | \u0061 | "a"x | \n
[ | ] | [1 | 1] | [1,] | [,1] | [,] | [1,,2] | [1 2] | [1:2] | ["a": 1] | [1]] | [[1] | [a | [] [] | [1,2)| [3[4]] | ["x"] ] | ["" , ]
{ | } | {a:1} | {1:1} | {null:1} | {'a':1} | {"a"} | {"a":} | {"a" 1} | {"a"::1} | {"a":1,} | {,"a":1} | {"a":1,,"b":2} | {"a":1 "b":2}
{"a":1}} | {{"a":1} | {"a","b"} | {"a":1;"b":2} | {[]:1} | {"a":"b"}/**/ | {"a":/*c*/"b"} | {"a":"b"}// | {"a":"b"}# | {"a":1]
{"a":'b'} | {"a":b} | {:1} | {"a":1:2} | {"x"::"b"} | {true:1} | <null> | <.> | * | ! | @ | # | // | /**/ | ; | \
`;

/** No value either, and not to be written in a list like that. */
const RAW = [
  "\u0000",
  "\u0001",
  '"\u0000"',
  '"\u0001"',
  '"\u001f"',
  '"\n"',
  '"\t"',
  '"\r"',
  '"a\u0008"',
  "\f1",
  "\v1",
  "\u00a01",
  "\u20281",
  "\u20601",
  "\ufeff1",
  "",
  " ",
  "1\u0000",
  '"a"\u0000',
  "[\u000c]",
  "[\u000b1]",
];

/** The same beyond ASCII: `String.raw` does not keep such letters as they are. */
const FOREIGN_VALUES = [
  "é",
  "東京",
  "🙂",
  "€𝄞",
  "\u202b",
  "asd ",
  "\u2028",
  "\u007f",
  "\ufeff",
  "\uffff",
].map((text) => `"${text}"`);
const FOREIGN_NO_VALUES = ["１", "∞", "“a”", '"\\🌀"', '"\\é"', "é", "「」"];

const listed = (list: string) => list.split(/ \| |\n/).filter((entry) => entry !== "");

/** Where a value can stand; a rule speaks of none of these places. */
const PLACES: Record<string, (value: string) => string> = {
  "a member": (value) => `{"x":${value},"model":"m","messages":[{"role":"user","content":"hi"}]}`,
  "the last member": (value) => `{"model":"m","messages":[{"role":"user","content":"${LONG}"}],"x":${value}}`,
  "inside a message": (value) =>
    `{"model":"m","messages":[{"x":${value},"role":"user","content":"${LONG}"}]}`,
  "in a list": (value) =>
    `\n{ "model" : "m" , "x" : [ "${LONG}" , ${value} , "${LONG}" ] , "messages" : [ { "role" : "user" , "content" : "hi" } ] } `,
};

type Verdict = "taken" | "refused";

function verdictOn(text: string): Verdict {
  try {
    new RequestBody(Buffer.from(text), 128).validate(chatCompletionsFormat.client!.request);
    return "taken";
  } catch {
    return "refused";
  }
}

function parserOn(text: string): Verdict {
  try {
    JSON.parse(text);
    return "taken";
  } catch {
    return "refused";
  }
}

/** The entries at a place that got another verdict than they should have. */
function others(entries: readonly string[], place: (value: string) => string, wanted: Verdict): string[] {
  return entries.filter((entry) => verdictOn(place(entry)) !== wanted || parserOn(place(entry)) !== wanted);
}

describe("a JSON value is accepted", () => {
  const values = [...listed(VALUES), ...FOREIGN_VALUES];
  test("enough of them", () => expect(values.length).toBeGreaterThan(100));
  for (const [name, place] of Object.entries(PLACES))
    test(name, () => expect(others(values, place, "taken")).toEqual([]));
});

describe("a text that is no JSON value is refused", () => {
  const entries = [...listed(NO_VALUES).filter((entry) => entry !== '""'), ...FOREIGN_NO_VALUES, ...RAW];
  test("enough of it", () => expect(entries.length).toBeGreaterThan(150));
  for (const [name, place] of Object.entries(PLACES))
    test(name, () => expect(others(entries, place, "refused")).toEqual([]));
});

describe("a long string is judged like a short one", () => {
  const inside = (text: string) => `"${LONG}${text} ${LONG}"`;
  const strings = (list: string) =>
    listed(list).filter((entry) => /^"[^"]*"$/.test(entry) && !entry.endsWith('\\"'));
  for (const [name, place] of Object.entries(PLACES))
    test(name, () => {
      for (const [list, wanted] of [
        [strings(VALUES), "taken"],
        [strings(NO_VALUES).filter((entry) => entry !== '""'), "refused"],
      ] as const) {
        expect(list.length).toBeGreaterThan(15);
        expect(
          others(
            list.map((entry) => inside(entry.slice(1, -1))),
            place,
            wanted,
          ),
        ).toEqual([]);
      }
    });
});

describe("a whole body gets the verdict of JSON.parse and the limits", () => {
  const BODY = PLACES["a member"]!("1");
  const whole: [string, string, Verdict][] = [
    ["nothing", "", "refused"],
    ["spaces", " \n", "refused"],
    ["no object", "[1]", "refused"],
    ["a text", '"a"', "refused"],
    ["two of them", BODY + BODY, "refused"],
    ["a word behind it", `${BODY}x`, "refused"],
    ["a comma behind it", `${BODY},`, "refused"],
    ["a zero byte behind it", `${BODY}\u0000`, "refused"],
    ["a bracket too many", `${BODY}}`, "refused"],
    ["a bracket too few", BODY.slice(0, -1), "refused"],
    ["a comment", `/**/${BODY}`, "refused"],
    ["spaces around it", `\r\n\t ${BODY}\r\n\t `, "taken"],
    ["a byte order mark", `\ufeff${BODY}`, "taken"],
    ["a byte order mark behind it", `${BODY}\ufeff`, "refused"],
    ["a member twice", BODY.replace("{", '{"model":"m",'), "refused"],
    ["a member twice, once in escapes", BODY.replace("{", String.raw`{"mod\u0065l":"m",`), "refused"],
    ["a long member twice", BODY.replace("{", `{"${LONG}":1,"${LONG}":2,`), "refused"],
    ["two long members", BODY.replace("{", `{"${LONG}":1,"${LONG}.":2,`), "taken"],
    ["a tilde and a long member", BODY.replace("{", `{"~":1,"${LONG}.":2,`), "taken"],
    ["a prototype twice", BODY.replace("{", '{"__proto__":1,"__proto__":2,'), "refused"],
    ["a prototype", BODY.replace("{", '{"__proto__":{"model":1},'), "taken"],
    ["128 levels", BODY.replace("{", `{"d":${"[".repeat(127)}${"]".repeat(127)},`), "taken"],
    ["129 levels", BODY.replace("{", `{"d":${"[".repeat(128)}${"]".repeat(128)},`), "refused"],
  ];
  for (const [name, text, wanted] of whole) test(name, () => expect(verdictOn(text)).toBe(wanted));

  test("bytes that are no UTF-8", () => {
    for (const bytes of [
      [0xff],
      [0xc0, 0xaf],
      [0xe0, 0xff],
      [0xed, 0xa0, 0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0xe4],
    ]) {
      const [head = "", tail = ""] = PLACES["a member"]!('"\u0000"').split("\u0000");
      const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
      expect(() => new RequestBody(body, 128)).toThrow("not valid UTF-8");
    }
  });
});
