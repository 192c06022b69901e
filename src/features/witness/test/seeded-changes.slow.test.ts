/** Changes of a fake provider behind a gateway, one after another, and what a look before and after says of each: 100 with `LONG_TESTS=1`. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { IS_LONG } from "../../../../test/helpers/effort.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import type { DiffView, LookView } from "../contracts.ts";
import type { Kind } from "../differences.ts";
import { FakeHost, type Nature, seeded } from "./host.ts";

setDefaultTimeout(240_000);

/** Changes of each kind. */
const ROUNDS = IS_LONG ? 10 : 3;

const MODEL = "fake/small";
const host = new FakeHost();
let books: RunningBooks;
let upstream: Upstream;

const configOf = (headers: object) => ({
  providers: { fake: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", ...headers } },
  prices: { [MODEL]: { input: 1, output: 4 } },
});

beforeAll(async () => {
  upstream = startUpstream(host.answer);
  books = await startBooks({ workers: 1, config: configOf({}) });
});
afterAll(async () => {
  await books.end();
  upstream.stop();
});

async function look(): Promise<string> {
  const { observations } = await books.api.send<LookView>("POST", "/witness/looks", {
    body: { models: [MODEL] },
  });
  return observations[0]!.id;
}

const diff = (a: string, b: string) => books.api.send<DiffView>("GET", "/witness/diff", { query: { a, b } });

/** Changes that one look shows, by their kinds. */
const CHANGES: readonly [Kind, (random: () => number) => Nature][] = [
  ["tokenizer", () => ({ tokenizer: true })],
  ["prompt", (random) => ({ hidden: 20 + Math.floor(random() * 21) })],
  ["events", () => ({ order: true })],
  ["price", (random) => ({ price: 101 + Math.floor(random() * 100) })],
  ["fields", (random) => ({ field: `extra_${Math.floor(random() * 1e6)}` })],
  ["headers", (random) => ({ header: `x-extra-${Math.floor(random() * 1e6)}` })],
  ["error", () => ({ error: true })],
];

test("each of many changes that a look shows is theirs and of its kind", async () => {
  const random = seeded(31);
  const wrong: unknown[] = [];
  for (let round = 0; round < ROUNDS; round++)
    for (const [kind, changed] of CHANGES) {
      host.nature = { price: 100 };
      const before = await look();
      host.nature = { price: 100, ...changed(random) };
      const { verdict, theirs, yours } = await diff(before, await look());
      const kinds = theirs.map((one) => one.kind);
      if (verdict !== "theirs" || kinds.join() !== kind || yours.length > 0)
        wrong.push({ kind, verdict, kinds, yours });
    }
  expect(wrong).toEqual([]);
});

test("of several changes of the config none is blamed on the provider, also where the provider changes too", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    host.nature = {};
    const before = await look();
    books.configure(
      JSON.stringify(configOf({ headers: { "x-round": String(round), [`x-own-${round}`]: "1" } })),
    );
    expect(books.run("reload").code).toBe(0);
    const isBoth = round % 2 === 1;
    if (isBoth) host.nature = { hidden: 30 };
    const { verdict, theirs, yours, unclear } = await diff(before, await look());
    expect([verdict, theirs]).toEqual([isBoth ? "mixed" : "yours", []]);
    expect(yours.map(({ what }) => what)).toContain("config");
    expect(unclear.map(({ kind }) => kind)).toEqual(isBoth ? ["prompt"] : []);
  }
});
