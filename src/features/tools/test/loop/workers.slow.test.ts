/** Conversations whose requests reach different workers: what weir's tools did in one is known in all. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, serve } from "../../../../../test/helpers/serving.ts";
import { type FakeServer, fakeServer, text } from "../support/servers.ts";
import { type Model, startModel } from "./model.ts";

setDefaultTimeout(120_000);

const CONVERSATIONS = 16;
const KEY = "key-of-anna-0123456789abcdef";

let shop: FakeServer;
let model: Model;
let gateway: Serving;

beforeAll(async () => {
  shop = fakeServer("modern", { find: ({ args }) => text(`found ${String(args["word"])}`) });
  // Two tools of weir in two turns, and one of the client beside the second.
  model = startModel(({ results, body }) => {
    const word = JSON.stringify(body).match(/tea-\d+/)![0];
    const find = (what: string) => ({ name: "shop__find", input: { word: what } });
    if (results.length === 0) return { calls: [find(word)] };
    if (results.length === 1) return { calls: [{ name: "weather" }, find(`milk for ${word}`)] };
    return { text: results.toSorted().join("; ") };
  });
  gateway = await serve({
    workers: 4,
    config: JSON.stringify({
      keys: [{ name: "anna", key: KEY }],
      providers: model.providers,
      tools: { servers: { shop: { url: shop.url, allow: ["*"] } } },
    }),
  });
});

afterAll(async () => {
  await gateway?.end();
  model?.stop();
  shop?.stop();
});

/** Over a connection of its own: the system gives it to one of the workers. */
async function ask(messages: readonly object[], stream: boolean) {
  const tools = [
    { type: "mcp", server_label: "shop", server_url: "weir/shop", require_approval: "never" },
    { type: "function", function: { name: "weather", parameters: { type: "object" } } },
  ];
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}`, connection: "close" },
    body: JSON.stringify({ model: "chat-completions/m", messages, tools, stream }),
  });
  const body = await response.text();
  const chunks = stream
    ? body.split("\n\n").flatMap((event) => (event.startsWith("data: {") ? [JSON.parse(event.slice(6))] : []))
    : [JSON.parse(body)];
  const parts = chunks.flatMap(({ choices }) => choices.map((one: any) => one.delta ?? one.message));
  const [call] = parts.flatMap((part) => part.tool_calls ?? []);
  const content = parts.map((part) => part.content ?? "").join("");
  return { call, content, warnings: response.headers.get("x-weir-warnings") };
}

test.each([false, true])(
  "a follow-up finds what ran, whichever worker it reaches (stream: %p)",
  async (stream) => {
    const talk = async (_: unknown, at: number) => {
      const question = { role: "user", content: `Is there tea-${at}?` };
      const { call } = await ask([question], stream);
      expect(call.function.name).toBe("weather");
      const said = { role: "assistant", content: null, tool_calls: [call] };
      const result = { role: "tool", tool_call_id: call.id, content: "rain" };
      return ask([question, said, result], stream);
    };
    const answers = await Promise.all(Array.from({ length: CONVERSATIONS }, talk));
    expect(answers.map(({ content, warnings }) => [content, warnings])).toEqual(
      answers.map((_, at) => [`found milk for tea-${at}; found tea-${at}; rain`, null]),
    );
  },
);
