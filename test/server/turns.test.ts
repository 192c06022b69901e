/** Requests that arrive together begin in groups, so that other work has its turn between them. */
import { expect, test } from "bun:test";
import { inTurns } from "../../src/server/turns.ts";

const GROUP = 8;

const request = (number: number, signal?: AbortSignal) =>
  new Request(`http://weir.test/${number}`, signal ? { signal } : {});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A handler that notes which requests have begun. */
function noting() {
  const begun: number[] = [];
  const fetch = inTurns((asked) => {
    const number = Number(new URL(asked.url).pathname.slice(1));
    begun.push(number);
    if (number < 0) throw new Error("no answer");
    return new Response(String(number));
  });
  return { begun, fetch };
}

test("requests that come one by one begin at once, without a promise", async () => {
  const { begun, fetch } = noting();
  for (let number = 0; number < 5 * GROUP; number++) {
    expect(fetch(request(number))).toBeInstanceOf(Response);
    expect(begun.length).toBe(number + 1);
    await turn();
  }
});

test("of a burst, a group begins in each turn, in order, and each request gets its own answer", async () => {
  const { begun, fetch } = noting();
  const numbers = Array.from({ length: 100 }, (_, number) => number);
  const answers = numbers.map((number) => fetch(request(number)));
  expect(begun.length).toBe(2 * GROUP);
  const seen = [begun.length];
  while (begun.length < numbers.length) {
    await turn();
    seen.push(begun.length);
  }
  for (const [at, count] of seen.entries())
    if (at > 0) expect(count - seen[at - 1]!).toBeLessThanOrEqual(GROUP);
  expect(begun).toEqual(numbers);
  const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
  expect(texts).toEqual(numbers.map(String));
});

test("a request that comes while others wait begins behind them", async () => {
  const { begun, fetch } = noting();
  const first = Array.from({ length: 3 * GROUP }, (_, number) => fetch(request(number)));
  await turn();
  const last = fetch(request(1000));
  await Promise.all([...first, last]);
  expect(begun.at(-1)).toBe(1000);
});

test("a request whose client has left while it waited begins all the same: its call has a record", async () => {
  const { begun, fetch } = noting();
  const left = new AbortController();
  const answers = Array.from({ length: 3 * GROUP }, (_, number) => fetch(request(number, left.signal)));
  left.abort();
  await Promise.all(answers);
  expect(begun.length).toBe(3 * GROUP);
});

test("a handler that throws fails its own request only", async () => {
  const { begun, fetch } = noting();
  const first = Array.from({ length: 2 * GROUP }, (_, number) => fetch(request(number)));
  const failing = fetch(request(-1));
  const next = fetch(request(7));
  await expect(failing).rejects.toThrow("no answer");
  expect(await (await next).text()).toBe("7");
  await Promise.all(first);
  expect(begun.length).toBe(2 * GROUP + 2);
});
