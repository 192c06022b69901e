/** What an input would cost: sums against the arithmetic of prices by hand. */
import { expect, test } from "bun:test";
import { builtInFormats } from "../../../run/formats.ts";
import { PriceBook } from "../../../ledger/prices/book.ts";
import type { PriceSettings } from "../../../ledger/prices/settings.ts";
import { type PriceAsk, priceBatch } from "../price.ts";

const formats = builtInFormats({ systemTurns: "accept" });
const CHAT = "/v1/chat/completions";

/** A price book with the prices of the test alone. */
function ruleIn(prices: PriceSettings): PriceAsk["ruleOf"] {
  const book = new PriceBook(prices, () => ({ find: () => undefined, lines: () => [] }));
  return (model) => book.lookup(model.slice(0, model.indexOf("/")), model.slice(model.indexOf("/") + 1));
}

async function* input(bodies: readonly object[], url = CHAT) {
  for (const [at, body] of bodies.entries())
    yield Buffer.from(`${JSON.stringify({ custom_id: `c${at}`, method: "POST", url, body })}\n`);
}

const chat = (model: string, output: number, text = "x") => ({
  ...{ model, max_tokens: output, messages: [{ role: "user", content: text }] },
});

const PRICES: PriceSettings = {
  "p/cheap": { input: 1, output: 2 },
  "p/dear": { input: 3, output: 15, batch: 0.25 },
  "p/free": 0,
};

test("each model has the sum of all lines, and output costs what the lines permit", async () => {
  const lines = Array.from({ length: 40 }, (_, at) => chat("any", 10 * (at + 1)));
  const output = 10 * ((40 * 41) / 2);
  const { models, faults } = await priceBatch(input(lines), {
    ...{ endpoint: CHAT, models: ["p/cheap", "p/dear", "p/free", "p/none"], ruleOf: ruleIn(PRICES), formats },
  });
  expect(faults).toEqual([]);
  const [cheap, dear, free, none] = models;
  expect(cheap).toMatchObject({ model: "p/cheap", lines: 40, output });
  expect(cheap!.run!.cost).toBe(1_000 * cheap!.input + 2_000 * output);
  expect(cheap!.native!.cost).toBe(500 * cheap!.input + 1_000 * output);
  expect(dear!.run!.cost).toBe(3_000 * dear!.input + 15_000 * output);
  expect(dear!.native!.cost).toBe(750 * dear!.input + 3_750 * output);
  expect(dear!.run!.most).toBeGreaterThan(dear!.run!.cost);
  expect(free!.run).toEqual({ cost: 0, most: 0 });
  expect([none!.run, none!.native, none!.lines]).toEqual([undefined, undefined, 40]);
});

test("without models each line has its own; discount and share of the output count", async () => {
  const { models } = await priceBatch(
    input([chat("p/cheap", 100), chat("p/dear", 100), chat("p/cheap", 101)]),
    {
      ...{ endpoint: CHAT, models: [], ruleOf: ruleIn(PRICES), formats, discount: 0.9, outputShare: 0.5 },
    },
  );
  expect(models.map(({ model, lines, output }) => [model, lines, output])).toEqual([
    ["p/cheap", 2, 50 + 51],
    ["p/dear", 1, 50],
  ]);
  expect(models[0]!.run!.cost).toBe(100 * models[0]!.input + 200 * 101);
  expect(models[1]!.run!.cost).toBe(300 * models[1]!.input + 1_500 * 50);
});

test("a long line has the prices of long requests, in a batch of the provider too", async () => {
  const rule = ruleIn({ "p/m": { input: 1, output: 2 } })("p/m")!;
  const tiered = { ...rule, tiers: [{ above: 1_000, input: 4_000_000, output: 6_000_000 }] };
  const { models } = await priceBatch(input([chat("m", 10), chat("m", 10, "word and ".repeat(2_000))]), {
    ...{ endpoint: CHAT, models: ["m"], ruleOf: () => tiered, formats },
  });
  const short = (await priceBatch(input([chat("m", 10)]), {
    ...{ endpoint: CHAT, models: ["m"], ruleOf: () => tiered, formats },
  }).then(({ models: [one] }) => one))!;
  const long = models[0]!.input - short.input;
  expect(long).toBeGreaterThan(2_000);
  expect(models[0]!.run!.cost).toBe(1_000 * short.input + 2_000 * 10 + 4_000 * long + 6_000 * 10);
  expect(models[0]!.native!.cost).toBe(500 * short.input + 1_000 * 10 + 2_000 * long + 3_000 * 10);
});

test("lines of every endpoint have a size, and a faulty line is named", async () => {
  const prices = ruleIn(PRICES);
  const gemini = "/v1beta/models/g:generateContent";
  const contents = [{ role: "user", parts: [{ text: "x" }] }];
  const cases: [string, object, number][] = [
    ["/v1/messages", chat("m", 7), 7],
    ["/v1/responses", { model: "m", input: "x", max_output_tokens: 9 }, 9],
    ["/v1/embeddings", { model: "m", input: ["some text", "more text"] }, 0],
    [gemini, { contents, generationConfig: { maxOutputTokens: 11 } }, 11],
    ["/v1beta/models/g:embedContent", { content: { parts: [{ text: "x y z" }] } }, 0],
  ];
  for (const [endpoint, body, output] of cases) {
    const { models, faults } = await priceBatch(input([body], endpoint), {
      ...{ endpoint, models: ["p/cheap"], ruleOf: prices, formats },
    });
    expect(faults).toEqual([]);
    expect(models[0]).toMatchObject({ lines: 1, output });
    expect(models[0]!.input).toBeGreaterThan(0);
  }
  const { models, faults } = await priceBatch(
    input([{ model: "m" }, { model: "m", input: "x" }], "/v1/embeddings"),
    {
      ...{ endpoint: "/v1/embeddings", models: ["p/cheap"], ruleOf: prices, formats },
    },
  );
  expect(faults.map(({ code, line }) => [code, line])).toEqual([["invalid_body", 1]]);
  expect(models[0]!.lines).toBe(1);
});
