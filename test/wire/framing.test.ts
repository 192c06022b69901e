/** Hosts of a known format that frame its streams in their own way: both lanes, and what is a stream at all. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, startUpstream, type Piece, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const provider = (name: string, framing: string) =>
    `chatCompletions({ name: "${name}", baseUrl: "${upstream.url}", framing: { "chat-completions": ${framing} } })`;
  const plugin = `import { chatCompletions, definePlugin, jsonArray, jsonLines, sse } from "weir";
export default definePlugin({
  name: "framing",
  providers: [
    ${provider("array", "jsonArray")},
    ${provider("lines", "jsonLines")},
    ${provider("odd", '{ ...sse, contentType: "text/plain" }')},
  ],
});`;
  gateway = await startGateway({ plugins: { "framing.ts": plugin } });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const CHUNKS = [
  { ...head, choices: [{ index: 0, delta: { role: "assistant", content: "Grüße" }, finish_reason: null }] },
  { ...head, choices: [{ index: 0, delta: { content: " 😀" }, finish_reason: null }] },
  {
    ...{ ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
  },
];
const COMPLETION = {
  ...head,
  choices: [{ index: 0, message: { role: "assistant", content: "Grüße 😀" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
};

interface Way {
  provider: string;
  type: string;
  write(chunks: readonly object[]): string;
}

const WAYS: readonly Way[] = [
  { provider: "array", type: "application/json", write: (chunks) => JSON.stringify(chunks, null, 1) },
  {
    provider: "lines",
    type: "application/x-ndjson",
    write: (chunks) => chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join(""),
  },
  {
    provider: "odd",
    type: "text/plain; charset=utf-8",
    write: (chunks) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""),
  },
];

function answer({ type }: Way, body: Iterable<Piece>): void {
  upstream.answer(() => ({ headers: { "content-type": type }, body, framing: "chunked" }));
}

async function ask(
  path: string,
  model: string,
  stream: boolean,
  more: object = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model,
      stream,
      max_tokens: 9,
      messages: [{ role: "user", content: "hi" }],
      ...more,
    }),
  });
  const { status } = response;
  return { status, text: response.ok ? (await readStreamed(response, true)).text : await response.text() };
}

const PATHS = ["/v1/chat/completions", "/v1/messages"];

for (const way of WAYS) {
  const model = `${way.provider}/m`;

  test(`${way.provider}: a stream reaches clients of both formats, wherever its bytes are cut`, async () => {
    const bytes = Buffer.from(way.write(CHUNKS));
    for (const path of PATHS)
      for (const at of [1, bytes.indexOf("ü") + 1, Math.floor(bytes.length / 2), bytes.length - 1]) {
        answer(way, [bytes.subarray(0, at), { wait: 5 }, bytes.subarray(at)]);
        const { text } = await ask(path, model, true);
        expect([path, at, text]).toEqual([path, at, expect.stringContaining("Grüße")]);
        expect(text).toContain(" 😀");
        expect(text).not.toContain('"error"');
        if (path === PATHS[1]) expect(text).toContain("message_stop");
      }
  });

  test(`${way.provider}: the native lane passes each value on, and weir knows what was counted`, async () => {
    answer(way, [way.write(CHUNKS)]);
    const { text } = await ask(PATHS[0]!, model, true);
    const values = [...text.matchAll(/^data: (\{.*\})$/gm)].map((match): unknown => JSON.parse(match[1]!));
    // The client did not ask for the token counts: only their event is missing.
    expect(values.slice(0, 2)).toEqual(CHUNKS.slice(0, 2));
    const line = gateway.log.findLast((entry) => entry.includes(`"${way.provider}"`));
    expect(line).toContain('"output":2');
  });

  test(`${way.provider}: a stream that is cut never looks complete`, async () => {
    const text = way.write(CHUNKS);
    const cut = text.indexOf("finish_reason", text.indexOf("😀")) + 30;
    for (const path of PATHS) {
      answer(way, [text.slice(0, cut)]);
      const seen = await ask(path, model, true);
      expect([path, seen.text]).toEqual([path, expect.stringContaining('"error"')]);
      expect(seen.text).not.toMatch(/message_stop|\[DONE\]/);
    }
  });

  test(`${way.provider}: a JSON answer is one`, async () => {
    upstream.answer(() => json(COMPLETION));
    expect(JSON.parse((await ask(PATHS[0]!, model, false)).text)).toEqual(COMPLETION);
    const { text } = await ask(PATHS[1]!, model, false);
    expect(JSON.parse(text)).toMatchObject({ content: [{ text: "Grüße 😀" }], stop_reason: "end_turn" });
  });
}

test("server-sent events under another content type pass byte for byte", async () => {
  const odd = WAYS.find(({ provider }) => provider === "odd")!;
  const text = `: a comment\n\nid: 1\n${odd.write(CHUNKS)}data: [DONE]\n\n`;
  answer(odd, [text]);
  const options = { stream_options: { include_usage: true } };
  expect((await ask(PATHS[0]!, "odd/m", true, options)).text).toBe(text);
});

test("an error status of such a host stays what it is", async () => {
  upstream.answer(() => json({ error: { message: "no such thing", type: "invalid_request_error" } }, 400));
  for (const { provider } of WAYS)
    for (const path of PATHS) {
      const { status, text } = await ask(path, `${provider}/m`, true);
      expect([status, text]).toEqual([400, expect.stringContaining("no such thing")]);
    }
});
