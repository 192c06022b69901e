/** Hard budgets hold for texts of every kind, and no key is refused for the prompts of another. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import { randomOf, TEXTS } from "../helpers/text-kinds.ts";
import { type Handler, json, sse, startUpstream, type UpstreamRequest } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const ALL = budgetAccount("all", 0);

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

/** Input costs $1 a million tokens, output $2. */
async function start(handler: Handler, limit: number): Promise<BookedGateway> {
  const upstream = startUpstream(handler);
  const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["small"] };
  const gateway = await startBooked({ providers: { host }, prices: { "host/*": { input: 1, output: 2 } } }, [
    budget("all", limit),
  ]);
  running.push(gateway, upstream);
  return gateway;
}

const answer = (input: number) =>
  json({
    ...{ id: "c1", object: "chat.completion", created: 1, model: "small" },
    choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
    usage: { prompt_tokens: input, completion_tokens: 2, total_tokens: input + 2 },
  });

const post = (gateway: BookedGateway, path: string, body: object) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const ask = (gateway: BookedGateway, content: string, more: object = {}) =>
  post(gateway, "/v1/chat/completions", {
    ...{ model: "small", max_tokens: 10, messages: [{ role: "user", content }] },
    ...more,
  });

const promptOf = ({ body }: UpstreamRequest) =>
  (JSON.parse(body.toString()) as { messages: { content: string }[] }).messages[0]!.content;

test("a list of digits has a token for each byte: no more calls pass than the budget pays", async () => {
  const prompt = "1,2,3,4,5,6,7,8,9,0,".repeat(1000);
  const gateway = await start((request) => answer(promptOf(request).length), 0.2 * DOLLAR);
  const statuses = await Promise.all(
    Array.from({ length: 30 }, () => ask(gateway, prompt).then(({ status }) => status)),
  );
  const passed = statuses.filter((status) => status === 200).length;
  expect(passed).toBeWithin(5, 11);
  const { spent } = await gateway.finish();
  expect(spent.get(ALL)).toBeLessThanOrEqual(0.2 * DOLLAR);
});

/** The body of an answer that ends with its connection. */
async function textUntilCut(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const piece of response.body!) text += decoder.decode(piece, { stream: true });
  } catch {
    // weir breaks the connection behind its error event.
  }
  return text;
}

const BLOCK = "1,2,3,4,5,6,7,8,9,0,".repeat(5);

describe("a stream of digits is stopped when its tokens have used the budget", () => {
  const languages = {
    native: { path: "/v1/chat/completions", members: {} },
    translated: { path: "/v1/messages", members: { max_tokens: 50_000 } },
  };
  for (const [lane, { path, members }] of Object.entries(languages))
    test(`${lane}`, async () => {
      let sent = 0;
      function* pieces() {
        const chunk = (delta: object) =>
          `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "small", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
        yield chunk({ role: "assistant", content: "" });
        while (sent < 40_000) {
          sent += BLOCK.length;
          yield chunk({ content: BLOCK });
          yield { wait: 3 };
        }
      }
      // 10,000 tokens of output, and what the input may have.
      const gateway = await start(() => sse(pieces()), 10_000 * 2000 + 200 * 1000);
      const response = await post(gateway, path, {
        ...{ model: "small", stream: true, messages: [{ role: "user", content: "count" }] },
        ...members,
      });
      expect(await textUntilCut(response)).toContain("budget_exhausted");
      expect(sent).toBeWithin(7_000, 12_000);
      const { spent } = await gateway.finish();
      expect(spent.get(ALL)).toBeGreaterThan(7_000 * 2000);
    });
});

test("prompts that a provider counts much higher than weir do not shut out short ones", async () => {
  const random = randomOf(1);
  const gateway = await start((request) => {
    const { length } = promptOf(request);
    return answer(length < 100 ? 9 : length * 10);
  }, 5 * DOLLAR);
  for (const make of Object.values(TEXTS)) {
    const { status } = await ask(gateway, make(random, 20_000));
    expect(status).toBe(200);
  }
  const explained = await post(gateway, "/v1/explain?format=chat-completions", {
    ...{ model: "small", max_tokens: 10, messages: [{ role: "user", content: "hi" }] },
  });
  const { cost } = (await explained.json()) as { cost: { hold: number; tokens: { input: number } } };
  expect(cost.tokens.input).toBeLessThan(1_300);
  expect(cost.hold).toBeLessThan(0.0015);
  expect((await ask(gateway, "hi")).status).toBe(200);
});
