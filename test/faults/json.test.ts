/** What is not JSON is refused before anybody acts on it, and what is, is not; over the wire, on every lane. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { startBinary } from "./armour.ts";
import { goal } from "./goals.ts";
import { streamedText } from "../helpers/streamed.ts";

let gateway: RunningGateway;
let upstream: Upstream;

const ANSWER = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

beforeAll(async () => {
  upstream = startUpstream(json(ANSWER));
  gateway = await startBinary({ config: upstreamConfig({ openai: upstream.url }) });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

/** Longer than what is cut out of a body before it is looked at. */
const LONG = "long text ".repeat(2_000);

/** Texts of values that are no JSON. */
const NO_VALUES: readonly string[] = [
  "",
  ",",
  "[1,]",
  "[,1]",
  "[1,,2]",
  "[1 2]",
  "[1",
  "1]",
  "[",
  "]",
  "[[]",
  "{",
  "}",
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,"a":1}',
  '{"a" 1}',
  "{a:1}",
  "{'a':1}",
  "{1:1}",
  '{"a":1 "b":2}',
  '{"a"::1}',
  '{"a":1,,"b":2}',
  '{"a":1;"b":2}',
  '["a":1]',
  '{"a","b"}',
  "[1;2]",
  "nul",
  "nulll",
  "NULL",
  "True",
  "tru",
  "fals",
  "FALSE",
  "undefined",
  "NaN",
  "Infinity",
  "-Infinity",
  "+1",
  "-",
  "--1",
  "01",
  "-01",
  "1.",
  ".1",
  "-.1",
  "1.e1",
  "1e",
  "1e+",
  "1E-",
  "1e1.5",
  "0x1",
  "1_000",
  "1,000",
  "１",
  "0b1",
  "0o7",
  "1n",
  "1f",
  "2.e3",
  "0e",
  "0.e1",
  "1.0e",
  "'a'",
  "`a`",
  '"',
  '"a',
  'a"',
  '"a""b"',
  '"\\x41"',
  '"\\a"',
  '"\\u"',
  '"\\u12"',
  '"\\u123"',
  '"\\u12G4"',
  '"\\U0041"',
  '"\\',
  '"\\"',
  '"\\\\"a"',
  '"\\ "',
  '"\\0"',
  '"\\\u00e9"',
  '"\n"',
  '"\t"',
  '"\r"',
  '"\0"',
  '"\u0001"',
  '"\u001f"',
  "/* a */ 1",
  "1 // a",
  "1 # a",
  "<null>",
  "[1]x",
  "1 1",
  "{}{}",
  "[]]",
  "\u00a01",
  "\u20281",
  "\u000b1",
  "\u000c1",
  "\ufeff1",
  "@",
  "!",
  "$a",
  "a",
  "()",
  '"\\ud800\\"',
  "[true,fals]",
  '{"a":tru}',
  "\\u0031",
  '{"a":"b"]',
  '["a"}',
  "*",
  "[*]",
  '{"a":/*b*/1}',
  "--0",
  "-a",
  "1a",
  "0xg",
  '{"\t":1}',
  '{"a\nb":1}',
];

/** Texts of values that are JSON, some of them barely. */
const VALUES: readonly string[] = [
  "null",
  "true",
  "false",
  "0",
  "-0",
  "1",
  "-1",
  "1.5",
  "1e5",
  "1E5",
  "1e+5",
  "1e-5",
  "0e0",
  "0.0",
  "-0.0e-0",
  "123456789012345678901234567890",
  "1e400",
  "-1e-400",
  "0.1e1",
  "20e1",
  "1.123456789012345678",
  '""',
  '" "',
  '"a"',
  '"\\""',
  '"\\\\"',
  '"\\/"',
  '"\\b\\f\\n\\r\\t"',
  '"\\u0041"',
  '"\\u00e9"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
  '"\\udc00"',
  '"\\u0000"',
  '"\\uFFFF"',
  '"\u007f"',
  '"\u00e9"',
  '"\u2028"',
  '"😀"',
  '"\uffff"',
  "[]",
  "[ ]",
  "[[]]",
  "[1,2]",
  "[ 1 , 2 ]",
  "[null]",
  '["a",1,true,null,{}]',
  "{}",
  "{ }",
  '{"a":1}',
  '{ "a" : 1 }',
  '{"":0}',
  '{"a":{"b":[{"c":1}]}}',
  '{"\\u0061":1}',
  '{"a b":1}',
  '{"é":1}',
  '{"__proto__":1}',
  '{"constructor":{"prototype":1}}',
  " 1",
  "1 ",
  "\t1\n",
  "\r\n1",
  '{"toString":1,"valueOf":2}',
  `[${"1,".repeat(5000)}1]`,
  `${"[".repeat(100)}${"]".repeat(100)}`,
];

/** Texts that may not stand inside a string, however long it is. */
const NO_TEXTS = [
  "\n",
  "\t",
  "\r",
  "\0",
  "\u0001",
  "\u001f",
  "\\x",
  "\\u12",
  "\\u12G4",
  "\\a",
  "\\U0041",
  "\\ ",
  '"',
  "\\",
];

/** Whole bodies that are no JSON object. */
const NO_BODIES = [
  "",
  " ",
  "\n",
  "null",
  "1",
  '"a"',
  "[]",
  "true",
  "{",
  "}",
  "{}{}",
  "{},",
  "{}x",
  "\ufeff{}",
  "[{}]",
  "model=x",
  "<a/>",
  '{"model"',
  '{"model":',
  '{"model":"x"',
  "{'model':'x'}",
  "--boundary",
  "\0",
  "{}\0",
  "//x\n{}",
  "/**/{}",
  "NaN",
  "undefined",
  "(function(){})()",
  ")]}',\n{}",
].map((text) => Buffer.from(text));

/** Bytes that are no UTF-8, inside a string. */
const NO_UTF8 = [
  [0xff],
  [0xfe],
  [0x80],
  [0xbf],
  [0xc0, 0x80],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
];

interface Lane {
  path: string;
  model: string;
}

/** The generated lane, the native, and the translated. */
const LANES: readonly Lane[] = [
  { path: "/v1/chat/completions", model: "mock/echo" },
  { path: "/v1/chat/completions", model: "openai/m" },
  { path: "/v1/messages", model: "openai/m" },
];

function ask({ path }: Lane, body: string | Uint8Array): Promise<Response> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: body as BodyInit,
  });
}

/** A body that is good but for one unknown member, in front of the rest or behind it. */
const withValue = ({ model }: Lane, value: string, at: "front" | "back", content = "hi") => {
  const rest = `"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":${JSON.stringify(content)}}]`;
  return at === "front" ? `{"extra":${value},${rest}}` : `{${rest},"extra":${value}}`;
};

async function refusal(lane: Lane, body: string | Uint8Array): Promise<string | undefined> {
  const response = await ask(lane, body);
  const text = await streamedText(response);
  const inShape = /^\{"(type":"error","error|error)":\{/.test(text) && response.headers.has("x-request-id");
  return response.status === 400 && inShape ? undefined : `${response.status} ${text.slice(0, 120)}`;
}

goal(
  28,
  "JSON strictness, over the wire",
  "≥ 100 vectors that are no JSON: all 400 in the API's shape, none reaches an upstream; all that is JSON is served",
  async () => {
    const wrong: string[] = [];
    const before = upstream.requests.length;
    let refused = 0;
    const mustFail = async (lane: Lane, body: string | Uint8Array, why: string) => {
      refused++;
      const seen = await refusal(lane, body);
      if (seen) wrong.push(`${lane.path} ${lane.model} ${why}: ${seen}`);
    };
    for (const lane of LANES) {
      await Promise.all(
        NO_VALUES.flatMap((value) => [
          mustFail(lane, withValue(lane, value, "front"), JSON.stringify(value)),
          mustFail(lane, withValue(lane, value, "back", LONG), `${JSON.stringify(value)} behind a long text`),
        ]),
      );
      for (const text of NO_TEXTS)
        for (const value of [`"${text}"`, `"${LONG}${text}"`, `"${text}${LONG}"`, `"${LONG}${text}${LONG}"`])
          await mustFail(
            lane,
            withValue(lane, value, "back"),
            `${JSON.stringify(text)} in a text of ${value.length}`,
          );
      for (const body of NO_BODIES) await mustFail(lane, body, JSON.stringify(body.toString()));
      for (const bytes of NO_UTF8) {
        const [front = "", back = ""] = withValue(lane, '"@"', "back", LONG).split("@");
        await mustFail(
          lane,
          Buffer.concat([Buffer.from(front), Buffer.from(bytes), Buffer.from(back)]),
          `bytes ${bytes.join(" ")}`,
        );
      }
    }
    const leaked = upstream.requests.length - before;
    let served = 0;
    for (const lane of LANES)
      for (const value of VALUES)
        for (const content of ["hi", LONG]) {
          served++;
          const response = await ask(lane, withValue(lane, value, "front", content));
          const text = await streamedText(response);
          if (response.status !== 200)
            wrong.push(
              `${lane.path} ${lane.model} ${JSON.stringify(value).slice(0, 60)}: ${response.status} ${text.slice(0, 120)}`,
            );
        }
    for (const sentence of wrong.slice(0, 12)) console.log(sentence);
    const vectors = NO_VALUES.length + NO_TEXTS.length + NO_BODIES.length + NO_UTF8.length;
    return {
      measured: `${vectors} vectors that are no JSON in ${refused} requests, ${VALUES.length} that are in ${served}: ${wrong.length} wrong, ${leaked} reached an upstream`,
      holds: wrong.length === 0 && leaked === 0 && vectors >= 100,
    };
  },
);

/** Names and keys people have broken programs with. */
const NAUGHTY: readonly string[] = [
  "undefined",
  "null",
  "NULL",
  "nil",
  "true",
  "false",
  "None",
  "NaN",
  "Infinity",
  "-1",
  "0",
  "1e1000",
  "0x0",
  "1/0",
  "__proto__",
  "constructor",
  "prototype",
  "hasOwnProperty",
  "toString",
  "valueOf",
  "__defineGetter__",
  "then",
  "toJSON",
  "' OR 1=1 --",
  "1; DROP TABLE keys",
  "' UNION SELECT NULL--",
  "admin'--",
  "%27%20OR%201=1",
  "\\' OR 1=1",
  "$where",
  "{$gt:''}",
  "{{7*7}}",
  "${7*7}",
  "#{7*7}",
  "<%= 7*7 %>",
  "{%raw%}",
  "${jndi:ldap://127.0.0.1/x}",
  "`id`",
  "$(id)",
  "; id",
  "| id",
  "& id",
  "|| id",
  "&& id",
  "../../../../etc/passwd",
  "..\\..\\windows",
  "/etc/passwd%00",
  "file:///etc/passwd",
  "http://127.0.0.1:1/",
  "//evil.example",
  "openai/../anthropic/x",
  "openai//x",
  "openai/",
  "/openai/x",
  "mock",
  "mock/",
  "mock//echo",
  "mock/echo/",
  "MOCK/ECHO",
  "mock/echo\u0000",
  "mock/echo\n",
  "mock/echo\r\nx-a: b",
  "mock/ech\u043e",
  "mock\u2044echo",
  "mock\uff0fecho",
  "<script>alert(1)</script>",
  '"><img src=x>',
  "javascript:alert(1)",
  "<!--#exec cmd=id-->",
  "<?xml version='1.0'?>",
  "]]>",
  "-->",
  "data: [DONE]",
  "event: error",
  "\n\ndata: x\n\n",
  "a\u2028b",
  "a\u2029b",
  "a\u0085b",
  "\ufeffa",
  "\u200ba",
  "\u202ea",
  "\u0000",
  "\u0007",
  "\u001b[31m",
  "\u007f",
  "\u0080",
  "\ud800",
  "\udc00a",
  "\uffff",
  "\ufffd",
  "田中さん",
  "ثم نفس",
  "Ω≈ç√∫",
  "👩‍👩‍👧‍👧",
  "Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮",
  "ﬁ",
  "İ",
  "ß",
  "ǅ",
  "%s%s%s%n",
  "%x%x",
  "%d",
  "$&",
  "$1",
  "\\1",
  "*",
  "?",
  "**",
  "[a-z]",
  "(a+)+$",
  ".*.*.*.*x",
  "a".repeat(201),
  "a".repeat(10_000),
  " ",
  "  mock/echo  ",
  ",",
  ";",
  ":",
  "/",
  "\\",
  "'",
  '"',
  "%",
  "%00",
  "%ff",
  "#",
  "@",
  "~",
  "-",
  "--help",
  "CON",
  "NUL",
  "com1",
  "eval",
  "import(1)",
];

test("naughty strings as model names: an answer in the API's shape, no 500, and nothing of them in a head", async () => {
  expect(NAUGHTY.length).toBeGreaterThanOrEqual(100);
  for (const path of ["/v1/chat/completions", "/v1/messages"])
    for (const model of NAUGHTY) {
      const response = await ask(
        { path, model },
        JSON.stringify({ model, max_tokens: 9, messages: [{ role: "user", content: "hi" }] }),
      );
      const text = await streamedText(response);
      expect([model, [200, 400, 404]]).toEqual([model, expect.arrayContaining([response.status])]);
      expect([model, response.headers.get("x-request-id")]).toEqual([model, expect.stringMatching(/^req_/)]);
      expect(JSON.parse(text)).toBeObject();
    }
});

test("naughty strings as keys, tools, texts and header values leave the gateway as it was", async () => {
  for (const word of NAUGHTY) {
    const tool = {
      type: "function",
      function: {
        name: word,
        description: word,
        parameters: { type: "object", properties: { [word]: { type: "string" } } },
      },
    };
    const body = JSON.stringify({
      model: "mock/echo",
      user: word,
      [`x${word}`]: word,
      tools: [tool],
      messages: [{ role: "user", content: word || "x" }],
    });
    const response = await ask({ path: "/v1/chat/completions", model: "" }, body);
    expect([word, [200, 400]]).toEqual([word, expect.arrayContaining([response.status])]);
    await response.text();
    const value = word
      .replace(/[^\x20-\x7e]/g, "")
      .trim()
      .slice(0, 2_000);
    const keyed = await fetch(`${gateway.url}/v1/models/${encodeURIComponent(value)}`, {
      headers: { "x-api-key": value, authorization: `Bearer ${value}` },
    });
    expect([word, [200, 404]]).toEqual([word, expect.arrayContaining([keyed.status])]);
    await keyed.text();
  }
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});
