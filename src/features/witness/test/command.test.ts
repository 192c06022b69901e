/** `weir witness` with a gateway and a fake provider: what a look prints and keeps, and whose a change is. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import type { DiffView, LooksView, LookView } from "../contracts.ts";
import { isWhole, NO_HASH, type Observation } from "../observation.ts";
import { QUESTIONS } from "../questions.ts";
import { FakeHost } from "./host.ts";

setDefaultTimeout(120_000);

let books: RunningBooks;
let upstream: Upstream;
const host = new FakeHost();
afterEach(async () => {
  await books.end();
  upstream.stop();
  host.nature = {};
});

const MODEL = "fake/small";

function configOf(more: object = {}) {
  const fake = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", ...more };
  return { providers: { fake }, prices: { [MODEL]: { input: 1, output: 4 } } };
}

async function begin(config: object = {}) {
  upstream = startUpstream(host.answer);
  books = await startBooks({ workers: 1, config: { ...configOf(), ...config } });
}

async function run<View>(...args: string[]): Promise<{ code: number; view: View }> {
  const { code, output } = await books.runBeside("witness", ...args, "--json");
  const from = output.indexOf("{");
  if (from < 0) throw new Error(output);
  return { code, view: JSON.parse(output.slice(from, output.lastIndexOf("}") + 1)) as View };
}

/** What the books have of all calls, once they have that number: workers send records in batches. */
async function booksOf(calls: number): Promise<{ calls: number; cost: number }> {
  for (let tries = 0; ; tries++) {
    const sums: { calls: number; cost: number } = await books.api.ask("GET /calls/summary");
    if (sums.calls >= calls || tries === 100) return sums;
    await Bun.sleep(50);
  }
}

async function lookOnce(): Promise<LookView["observations"][number]> {
  const { code, view } = await run<LookView>("--model", MODEL, "--yes");
  expect(code).toBe(0);
  return view.observations[0]!;
}

test("a look prints what it saw and what it costs at most, and keeps it", async () => {
  await begin();
  const { code, output } = await books.runBeside("witness", "--model", MODEL, "--yes");
  expect(output).toContain(`weir asks ${MODEL}: ${QUESTIONS.length} calls; $0.0`);
  expect(output).toContain("small-2026-01");
  expect(code).toBe(0);
  const { view } = await run<LooksView>("list");
  expect(view.observations).toHaveLength(1);
  const [seen] = view.observations as unknown as [Observation];
  expect(seen.seen.missing).toEqual({});
  expect(Object.keys(seen.seen.tokens)).toEqual(
    QUESTIONS.filter(({ isFaulty }) => !isFaulty).map(({ id }) => id),
  );
  expect(seen.seen.facts["error"]).toBe("400 error.message:string error.param:string error.type:string");
  expect(seen.seen.facts["events"]).toContain("[DONE]");
  expect(Object.keys(seen.own.requests)).toHaveLength(QUESTIONS.length);
  expect([seen.before, seen.cost > 0, isWhole(seen)]).toEqual([NO_HASH, true, true]);
  const booked = await booksOf(QUESTIONS.length);
  expect(booked.calls).toBe(QUESTIONS.length);
  expect(seen.cost).toBe(booked.cost);
});

/** Ids and times differ from run to run. */
const plain = (text: string) =>
  text.replace(/wit_[0-9a-f]{12}/g, "wit_ID").replace(/\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})?/g, "TIME");

test("the example of the README is what the commands print", async () => {
  await begin();
  const first = await lookOnce();
  host.nature = { tokenizer: true };
  const second = await lookOnce();
  const { code, output } = await books.runBeside("witness", "diff", first.id, second.id);
  const readme = await Bun.file(new URL("../README.md", import.meta.url)).text();
  const [, example = ""] = /witness diff wit_\w+ wit_\w+\n([^]*?)\n\n<!-- \/example/.exec(readme) ?? [];
  expect([code, plain(output.trim())]).toEqual([1, plain(example.replace(/^ {4}/gm, ""))]);
});

test("a dry run sends nothing", async () => {
  await begin();
  const sent = upstream.requests.filter(({ method }) => method === "POST").length;
  const { code, output } = await books.runBeside("witness", "--model", MODEL, "--dry-run");
  expect([code, upstream.requests.filter(({ method }) => method === "POST").length]).toEqual([0, sent]);
  expect(output).toContain("at most");
});

test("one token more is theirs; a changed config is yours; both at once cannot be separated", async () => {
  await begin();
  const first = await lookOnce();
  expect((await run<DiffView>("diff", first.id, (await lookOnce()).id)).view.verdict).toBe("same");
  host.nature = { tokenizer: true };
  const second = await lookOnce();
  const theirs = await run<DiffView>("diff", first.id, second.id);
  expect([theirs.code, theirs.view.verdict, theirs.view.yours]).toEqual([1, "theirs", []]);
  expect(theirs.view.theirs.map(({ kind, questions }) => [kind, questions])).toEqual([
    ["tokenizer", ["code"]],
  ]);

  books.configure(JSON.stringify({ ...configOf({ headers: { "x-team": "blue" } }) }));
  expect(books.run("reload").code).toBe(0);
  const third = await lookOnce();
  const yours = await run<DiffView>("diff", second.id, third.id);
  expect([yours.view.verdict, yours.view.theirs, yours.view.unclear]).toEqual(["yours", [], []]);
  expect(yours.view.yours.map(({ what }) => what)).toEqual(["config", "request"]);
  expect(JSON.stringify(yours.view)).not.toContain("blue");

  const mixed = await run<DiffView>("diff", first.id, third.id);
  expect([mixed.view.verdict, mixed.view.theirs]).toEqual(["mixed", []]);
  expect(mixed.view.unclear.map(({ kind }) => kind)).toEqual(["tokenizer"]);
  expect(mixed.view.separate).toContain("put the former config of the provider back");
});
