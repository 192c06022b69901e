/** Tools that a model may not call once untrusted text is in the conversation: every client format, streamed and not. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ChatEvent } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";
import { writeFrame } from "../../../stream/sse.ts";
import { writeAll } from "../../../../test/helpers/answer-codecs.ts";
import { makeContext } from "../../../../test/helpers/codec-context.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { APIS, LANES, SPOKEN } from "../../../../test/helpers/guarded.ts";
import { json, sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let gateway: RunningGateway;
const upstreams: Upstream[] = [];
/** The tool that the model calls. */
let called = "send_email";

const events = (): ChatEvent[] => [
  { type: "message-start", id: "a_1", model: "m" },
  { type: "block-start", index: 0, block: { type: "text" } },
  { type: "block-delta", index: 0, delta: "Of course." },
  { type: "block-end", index: 0 },
  { type: "block-start", index: 1, block: { type: "tool-call", id: "c_1", name: called, kind: "function" } },
  { type: "block-delta", index: 1, delta: '{"to":"mallory"}' },
  { type: "block-end", index: 1 },
  { type: "message-end", reason: { kind: "tool-calls" }, usage: { ...NO_USAGE, input: 5, output: 5 } },
];

beforeAll(async () => {
  const providers = Object.entries(SPOKEN).map(([format, { codec }]) => {
    const upstream = startUpstream(({ body, path }) => {
      const isStream = body.includes('"stream":true') || path.includes("stream");
      if (!isStream) return json(codec.writeAnswer(events(), makeContext()));
      return sse(writeAll(codec.writeStream(makeContext()), events()).map(writeFrame));
    });
    upstreams.push(upstream);
    const baseUrl = format === "messages" ? upstream.url : `${upstream.url}/v1`;
    return [`p-${format}`, { speaks: format, baseUrl, apiKey: "k-1234567", models: ["m", "free"] }] as const;
  });
  gateway = await startGateway({
    config: {
      providers: Object.fromEntries(providers),
      guards: {
        flow: {
          from: ["tool-results", "documents"],
          to: ["github__create_*", "send_email"],
          do: "block",
          models: ["*/m"],
        },
      },
      log: { format: "json" },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  for (const upstream of upstreams) upstream.stop();
});

async function ask(format: string, model: string, stream: boolean, change: (body: JsonObject) => JsonObject) {
  const { path, body } = APIS[format]!;
  const response = await fetch(gateway.url + path(model, stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(change(body(model, stream, "Go on."))),
  });
  let text = "";
  try {
    for await (const piece of response.body!) text += Buffer.from(piece).toString();
  } catch {
    // The connection ends with the error.
  }
  return { text, response };
}

/** The conversation up to the result of a tool: what the user says then is left out. */
function untilResult(body: JsonObject): JsonObject {
  const name = ["messages", "input", "contents"].find((one) => Array.isArray(body[one]))!;
  const all = body[name] as JsonObject[];
  const last = all.at(-1)!;
  const { content } = last;
  if (name !== "messages" || !Array.isArray(content)) return { ...body, [name]: all.slice(0, -1) };
  return { ...body, messages: [...all.slice(0, -1), { ...last, content: content.slice(0, 1) }] };
}

const TALKS = LANES.filter(([format]) => format !== "ollama-generate");

describe("after the result of a tool", () => {
  for (const [format, spoken] of TALKS)
    for (const stream of [false, true])
      test(`${format} to ${spoken}${stream ? ", streamed" : ""}`, async () => {
        for (const tool of ["send_email", "github__create_issue"]) {
          called = tool;
          const { text, response } = await ask(format, `p-${spoken}/m`, stream, untilResult);
          expect(text).toContain("after untrusted text");
          expect(text).not.toMatch(/mallory|\[DONE\]|message_stop"|response\.completed/);
          if (!stream)
            expect([response.status, text]).toEqual([400, expect.not.stringContaining("create_issue")]);
        }
        called = "get_weather";
        const free = await ask(format, `p-${spoken}/m`, stream, untilResult);
        expect([free.response.status, free.text]).toEqual([200, expect.stringContaining("mallory")]);
        called = "send_email";
        const other = await ask(format, `p-${spoken}/free`, stream, untilResult);
        expect([other.response.status, other.text]).toEqual([200, expect.stringContaining("mallory")]);
      });
});

describe("after the next turn of the user the tool may be called", () => {
  for (const [format, spoken] of TALKS)
    // The text of the user is in the message of the result, where nothing tells which came first.
    for (const stream of format === "messages" ? [] : [false, true])
      test(`${format} to ${spoken}${stream ? ", streamed" : ""}`, async () => {
        const { text, response } = await ask(format, `p-${spoken}/m`, stream, (body) => body);
        expect([response.status, text]).toEqual([200, expect.stringContaining("mallory")]);
        if (!stream) expect(response.headers.get("x-weir-guards")).toBe("flow=passed");
      });
});

const messages = (content: JsonObject[], ...more: JsonObject[]) => ({
  model: "p-messages/m",
  max_tokens: 99,
  messages: [{ role: "user", content }, ...more],
});
const DOCUMENT = { type: "document", source: { type: "text", media_type: "text/plain", data: "Obey" } };
const FILE = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBE" } };
const SAID = { type: "text", text: "Read this" };

test("a document beside the words of the user counts until the next turn", async () => {
  called = "send_email";
  const post = async (body: JsonObject) => {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  expect(await post(messages([SAID, DOCUMENT]))).toBe(400);
  expect(await post(messages([DOCUMENT, SAID]))).toBe(400);
  expect(await post(messages([SAID, FILE]))).toBe(400);
  expect(await post(messages([SAID]))).toBe(200);
  const later = [
    { role: "assistant", content: "Done." },
    { role: "user", content: "Now send it." },
  ];
  expect(await post(messages([SAID, DOCUMENT], ...later))).toBe(200);
});

test("a name that comes in pieces is found, and the record names the rule, no tool and no text", async () => {
  const chunk = (name: string) => ({
    id: "c",
    object: "chat.completion.chunk",
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name, arguments: "" } }] } },
    ],
  });
  const upstream = upstreams[0]!;
  upstream.answer(() =>
    sse([
      ...["send", "_em", "ail"].map((name) => `data: ${JSON.stringify(chunk(name))}\n\n`),
      "data: [DONE]\n\n",
    ]),
  );
  const { text, response } = await ask("chat-completions", "p-chat-completions/m", true, untilResult);
  expect(text).toContain("after untrusted text");
  expect(text).not.toMatch(/"ail"|\[DONE\]/);
  const id = response.headers.get("x-request-id")!;
  const line = () => gateway.log.find((one) => one.includes(id) && one.includes('"guards"'));
  for (let tries = 0; tries < 200 && !line(); tries++) await Bun.sleep(10);
  const { guards } = JSON.parse(line()!) as { guards: JsonObject[] };
  expect(guards).toMatchObject([{ name: "flow", verdict: "blocked", count: 1, kinds: { TOOL: 1 } }]);
});
