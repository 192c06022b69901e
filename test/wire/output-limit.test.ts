/** The output limit under the name the host knows: an unknown one is ignored, and the answer has no limit. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(compatible);
  const provider = { baseUrl: `${upstream.url}/v1`, apiKey: "unused" };
  gateway = await startGateway({
    config: {
      providers: {
        openai: provider,
        groq: provider,
        llamacpp: { baseUrl: provider.baseUrl },
        xai: { ...provider, maxTokensField: "max_completion_tokens" },
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

/** A host that knows `max_tokens` only, as the compatible servers of llama.cpp, Ollama and others do. */
function compatible({ path, body }: { path: string; body: Buffer }) {
  if (path === "/v1/models") return json({ data: [] });
  const { max_tokens: limit } = JSON.parse(body.toString()) as { max_tokens?: number };
  const words = Array.from({ length: Math.min(169, limit ?? 169) }, () => "word");
  return json({
    id: "c",
    model: "m",
    choices: [{ index: 0, message: { content: words.join(" ") }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: words.length, total_tokens: 3 + words.length },
  });
}

function lastSent(): Record<string, unknown> {
  const { body } = upstream.requests.findLast(({ path }) => path === "/v1/chat/completions")!;
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

async function ask(model: string): Promise<{ words: number; sent: Record<string, unknown> }> {
  const message = await anthropicClient(gateway.url).messages.create({
    model,
    max_tokens: 16,
    messages: [{ role: "user", content: "hi" }],
  });
  const [block] = message.content;
  const words = block?.type === "text" ? block.text.split(" ").length : 0;
  return { words, sent: lastSent() };
}

test("an output limit holds at a compatible host behind a vendor's name", async () => {
  for (const model of ["openai/qwen3-8b", "openai/gpt-4.1", "groq/llama-3.1-8b-instant"]) {
    const { words, sent } = await ask(model);
    expect([model, words, sent["max_completion_tokens"]]).toEqual([model, 16, undefined]);
  }
});

test("a model of OpenAI's that refuses max_tokens keeps the other name, also behind an aggregator", async () => {
  for (const model of ["openai/gpt-5-mini", "openai/openai/gpt-5-mini", "openai/o3"])
    expect((await ask(model)).sent).toMatchObject({ max_completion_tokens: 16 });
});

const askChat = async (body: object) => {
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...body }),
  });
  return lastSent();
};

test("a chat client's max_completion_tokens holds at a host that knows max_tokens only", async () => {
  for (const model of ["openai/qwen3-8b", "groq/llama-3.1-8b-instant", "llamacpp/m"]) {
    const sent = await askChat({ model, max_completion_tokens: 16 });
    expect([model, sent["max_tokens"], sent["max_completion_tokens"]]).toEqual([model, 16, undefined]);
  }
  const kept = await askChat({ model: "openai/gpt-5-mini", max_completion_tokens: 16 });
  expect([kept["max_tokens"], kept["max_completion_tokens"]]).toEqual([undefined, 16]);
  const both = await askChat({ model: "openai/m", max_completion_tokens: 16, max_tokens: 8 });
  expect([both["max_tokens"], both["max_completion_tokens"]]).toEqual([8, 16]);
});

test("the config's name for the output limit wins", async () => {
  expect((await ask("xai/grok-4")).sent).toMatchObject({ max_completion_tokens: 16 });
});
