/** Bodies with all requests at once become lines: the same bytes, in chunks of any size, and errors that name the request. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../core/error.ts";
import { ArrayItems } from "../lines/array-items.ts";
import { type Conversion, fromBatch, fromKeyedLines, fromRequests } from "../lines/requests.ts";
import { chunksOf } from "./chunks.ts";

const LIMITS = { lines: 10 };
const GENERATE = "/v1beta/models/m:generateContent";

async function textOf(lines: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const line of lines) text += Buffer.from(line).toString();
  return text;
}

function requests(body: string, ...sizes: number[]): Conversion {
  return fromRequests(chunksOf(body, ...sizes), "/v1/messages", LIMITS);
}

function batch(body: string, ...sizes: number[]): Conversion {
  return fromBatch(chunksOf(body, ...sizes), GENERATE, LIMITS);
}

test("the requests of the SDKs become lines, and their bodies stay byte for byte", async () => {
  const params = String.raw`{ "model":"m","max_tokens":5.0e1,"x":123456789012345678901,"messages":[{"role":"user","content":"\u00e9 \"]} \\"}] }`;
  for (const size of [1, 2, 3, 7, 10_000]) {
    const body = `\n{"a":{"requests":[1]}, "requests" : [ {"custom_id":"a","params":${params}} ,{"params":{},"custom_id":"b-_2"}\n], "workspace_id":"w"}\n`;
    const conversion = requests(body, size);
    expect(await textOf(conversion.lines())).toBe(
      `{"custom_id":"a","method":"POST","url":"/v1/messages","body":${params}}\n{"custom_id":"b-_2","method":"POST","url":"/v1/messages","body":{}}\n`,
    );
    expect(conversion.around).toEqual({ count: 2 });
  }
  // As @google/genai 3.1.0 sends it.
  const sent = `{"batch":{"inputConfig":{"requests":{"requests":[{"request":{"contents":[{"parts":[{"text":"hi"}],"role":"user"}]},"metadata":{"key":"a"}},{"request":{}}]}},"displayName":"d"}}`;
  for (const size of [1, 5, 10_000])
    for (const one of [
      sent,
      sent.replace("inputConfig", "input_config").replace("displayName", "display_name"),
    ]) {
      const conversion = batch(one, size);
      expect(await textOf(conversion.lines())).toBe(
        `{"custom_id":"a","method":"POST","url":"${GENERATE}","body":{"contents":[{"parts":[{"text":"hi"}],"role":"user"}]}}\n{"custom_id":"1","method":"POST","url":"${GENERATE}","body":{}}\n`,
      );
      expect(conversion.around).toEqual({ count: 2, name: "d" });
    }
});

test("metadata of Google's requests with more than a key is kept in the line", async () => {
  const metadata = '{"key":"a", "n":1.0,\n"more":{"x":[1]}}';
  const request = `{"request":{"a":1},"metadata":${metadata}}`;
  const line = `{"custom_id":"a","method":"POST","url":"${GENERATE}","body":{"a":1},"metadata":${metadata.replace("\n", " ")}}\n`;
  const body = `{"batch":{"inputConfig":{"requests":{"requests":[${request}]}}}}`;
  for (const size of [1, 5, 10_000]) expect(await textOf(batch(body, size).lines())).toBe(line);
  const keyed = `{"key":"a","request":{"a":1},"metadata":${metadata.replace("\n", " ")}}\n`;
  expect(await textOf(fromKeyedLines(chunksOf(keyed, 7), GENERATE, LIMITS))).toBe(line);
  const others = `{"requests":[{"custom_id":"a","params":{},"metadata":${metadata}}]}`;
  expect(await textOf(requests(others, 9).lines())).not.toContain("metadata");
});

test("line breaks between members become spaces, so that each request is one line", async () => {
  const pretty = JSON.stringify(
    { requests: [{ custom_id: "a", params: { model: "a\nb", n: [1, 2] } }] },
    null,
    2,
  );
  const text = await textOf(requests(pretty.replaceAll("\n", "\r\n"), 9).lines());
  expect(text.match(/[\r\n]/g)).toEqual(["\n"]);
  expect(JSON.parse(text)).toMatchObject({ custom_id: "a", body: { model: "a\nb", n: [1, 2] } });
});

test("a batch may name a file, and a file of keyed requests becomes lines", async () => {
  const conversion = batch('{"batch":{"inputConfig":{"fileName":"files/abc"}}}');
  expect(await textOf(conversion.lines())).toBe("");
  expect(conversion.around).toEqual({ count: 0, fileName: "files/abc" });
  const file = '{"key":"a","request":{"n":1.0}}\r\n{"request":{}}\n\n';
  expect(await textOf(fromKeyedLines(chunksOf(file, 5), GENERATE, LIMITS))).toBe(
    `{"custom_id":"a","method":"POST","url":"${GENERATE}","body":{"n":1.0}}\n{"custom_id":"1","method":"POST","url":"${GENERATE}","body":{}}\n`,
  );
});

const ONE = '{"custom_id":"a","params":{}}';
const REFUSED: Record<string, [body: string, status: number, param?: string, code?: string]> = {
  "no JSON": ["x", 400],
  "no bytes": ["", 400],
  "a list": [`[${ONE}]`, 400],
  "no requests": ["{}", 400, "requests", "missing_required_parameter"],
  "an empty list": ['{"requests":[]}', 400, "requests", "missing_required_parameter"],
  "requests that are an object": [
    '{"requests":{"requests":[1]}}',
    400,
    "requests",
    "missing_required_parameter",
  ],
  "an end within the list": [`{"requests":[${ONE}`, 400],
  "an end behind the list": [`{"requests":[${ONE}]`, 400],
  "another end": [`{"requests":[${ONE}]]`, 400],
  "text behind the body": [`{"requests":[${ONE}]} x`, 400],
  "a comma at the end": [`{"requests":[${ONE},]}`, 400],
  "two commas": [`{"requests":[${ONE},,${ONE}]}`, 400],
  "no comma": [`{"requests":[${ONE} ${ONE}]}`, 400, "requests.0"],
  "a bracket of another kind": ['{"requests":[{"custom_id":"a","params":{]}]}', 400, "requests.0"],
  "two lists": [`{"requests":[${ONE}],"requests":[]}`, 400],
  "two lists, the first of which is empty": [`{"requests":[],"requests":[${ONE}]}`, 400],
  "an escape in the name": [`{"r\\u0065quests":[${ONE}]}`, 400],
  "a request that is a text": ['{"requests":["a"]}', 400, "requests.0", "invalid_value"],
  "no custom_id": ['{"requests":[{"params":{}}]}', 400, "requests.0.custom_id", "missing_required_parameter"],
  "a custom_id with a space": [
    '{"requests":[{"custom_id":"a b","params":{}}]}',
    400,
    "requests.0.custom_id",
    "invalid_value",
  ],
  "a custom_id of 65 letters": [
    `{"requests":[{"custom_id":"${"a".repeat(65)}","params":{}}]}`,
    400,
    "requests.0.custom_id",
    "invalid_value",
  ],
  "a custom_id twice": [
    `{"requests":[${ONE},{"custom_id":"b","params":{}},${ONE}]}`,
    400,
    "requests.2.custom_id",
    "duplicate_custom_id",
  ],
  "no params": ['{"requests":[{"custom_id":"a"}]}', 400, "requests.0.params", "missing_required_parameter"],
  "params that are a list": [
    '{"requests":[{"custom_id":"a","params":[]}]}',
    400,
    "requests.0.params",
    "invalid_value",
  ],
  "a stream": [
    '{"requests":[{"custom_id":"a","params":{"stream":true}}]}',
    400,
    "requests.0.params.stream",
    "stream_not_supported",
  ],
  "a member twice": ['{"requests":[{"custom_id":"a","custom_id":"b","params":{}}]}', 400, "requests.0"],
  "a member of params twice": [
    '{"requests":[{"custom_id":"a","params":{"n":1,"n":2}}]}',
    400,
    "requests.0.params.n",
  ],
  "too many levels": [
    `{"requests":[{"custom_id":"a","params":${'{"a":'.repeat(300)}1${"}".repeat(300)}}]}`,
    400,
    "requests.0",
    "invalid_value",
  ],
  "too many requests": [
    `{"requests":[${Array.from({ length: 11 }, (_, at) => ONE.replace('"a"', `"a${at}"`)).join()}]}`,
    413,
    "requests",
    "too_many_tasks",
  ],
  "a request that is too large": [
    `{"requests":[{"custom_id":"a","params":{"x":"${"x".repeat(9_000_000)}"}}]}`,
    413,
    "requests.0",
    "line_too_large",
  ],
  "too much beside the requests": [`{"x":"${"x".repeat(2_000_000)}","requests":[${ONE}]}`, 400],
};

for (const [what, [body, status, param, code]] of Object.entries(REFUSED))
  test(`a body with ${what} is refused`, async () => {
    for (const size of body.length > 100_000 ? [65_536] : [1, 11, 10_000]) {
      const thrown: unknown = await textOf(requests(body, size).lines()).catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(GatewayError);
      const error = thrown as GatewayError;
      expect([error.status, error.param, error.code]).toEqual([status, param, code]);
      expect(error.message).toMatch(/^[A-Z`].*\.$/);
    }
  });

test("Google's keys may be there twice, and a batch has requests or a file", async () => {
  const item = '{"request":{},"metadata":{"key":"k"}}';
  const list = `"requests":{"requests":[${item},${item}]}`;
  expect(
    (await textOf(batch(`{"batch":{"inputConfig":{${list}}}}`).lines())).match(/"custom_id":"k"/g),
  ).toHaveLength(2);
  const both = batch(`{"batch":{"inputConfig":{"fileName":"files/a",${list}}}}`);
  await expect(textOf(both.lines())).rejects.toThrow("requests and the name of a file");
  const elsewhere = batch(`{"batch":{},"other":{"inputConfig":{${list}}}}`);
  await expect(textOf(elsewhere.lines())).rejects.toThrow("no requests");
  const twice = batch(`{"batch":{"inputConfig":{${list}},"input_config":{}}}`);
  await expect(textOf(twice.lines())).rejects.toThrow('"input_config" twice');
});

test("any JSON is cut as the parser reads it, in chunks of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.json({ maxDepth: 4 }).map((text) => text.replaceAll("é", "\\u00e9"))),
      fc.json({ maxDepth: 2 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom("", " ", "\n\t "),
      async (items, other, sizes, space) => {
        const head = `{"other":${other},"list":${space}{"other":${other},"list":[`;
        const tail = `]${space}},"last":[${other}]}`;
        const body = head + items.map((item) => space + item + space).join(",") + space + tail;
        const reader = new ArrayItems([["list"], ["list"]], 100_000);
        const cut: string[] = [];
        for await (const { bytes, index } of reader.read(chunksOf(body, ...sizes))) {
          expect(index).toBe(cut.length);
          cut.push(Buffer.from(bytes).toString());
        }
        expect(cut).toEqual(items.map((item) => item.trim()));
        expect(Buffer.from(reader.rest()).toString()).toBe(head + tail);
      },
    ),
    { seed: 5, numRuns: 1000 },
  );
});

test("texts with quotes and backslashes are cut at any border of chunks", async () => {
  const text = fc.array(fc.constantFrom("\\", '"', "]", ",", "a", "\\\\"), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 4 }),
      async (texts, size) => {
        const items = texts.map((parts) => JSON.stringify(parts.join("")));
        const reader = new ArrayItems([["list"]], 1000);
        const cut: string[] = [];
        for await (const { bytes } of reader.read(chunksOf(`{"list":[${items.join(", ")}]}`, size)))
          cut.push(Buffer.from(bytes).toString());
        expect(cut).toEqual(items);
      },
    ),
    { seed: 7, numRuns: 2000 },
  );
});
