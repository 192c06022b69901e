/** Repeats of requests whose connection broke: one charge, by the provider's counts, and a record that says who paid. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../../ledger/charge.ts";
import { DOLLAR } from "../../../ledger/money.ts";
import { budgetAccount } from "../../../ledger/record.ts";
import { startBooked } from "../../../../test/helpers/books.ts";
import {
  ask,
  cut,
  EVENTS,
  gatedUpstream,
  idOf,
  lineOf,
  WHOLE,
} from "../../../../test/helpers/cut-streams.ts";
import { chatHost } from "../../../../test/helpers/gateway.ts";
import { budget, rate } from "../../../../test/helpers/ledger.ts";
import { until } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

/** Dollars a million tokens; the provider counts 10 tokens of input and 20 of output. */
const PRICES = { input: 1, cacheRead: 1, cacheWrite: 1, output: 2 };
const COST = 10 * 1000 + 20 * 2000;

test("a call that was cut behind any event and its repeat are one charge, by the provider's counts", async () => {
  const upstream = gatedUpstream();
  const gateway = await startBooked(
    { ...chatHost(upstream.url), prices: { "host/*": PRICES }, paidOnce: { enabled: true } },
    [budget("all", 100 * DOLLAR)],
  );
  let repeats = 0;
  for (const headers of ["named", "counted"])
    for (let events = 1; events < EVENTS.length; events++) {
      const prompt = `${headers}, at ${events}`;
      const name: Record<string, string> = headers === "named" ? { "idempotency-key": prompt } : {};
      const first = await cut(gateway.url, prompt, events, name);
      const repeat = await ask(gateway.url, prompt, { ...name, "x-stainless-retry-count": "1" });
      upstream.release(prompt);
      expect(await repeat.text()).toBe(WHOLE);
      repeats++;
      for (const id of [idOf(first), idOf(repeat)])
        await until(
          () => lineOf(gateway.log, id) !== undefined,
          5000,
          () => `${id} has not ended`,
        );
    }
  expect(upstream.requests.length).toBe(repeats);
  const { calls, spent } = await gateway.finish();
  upstream.stop();
  const paid = calls.filter(({ tries }) => tries > 0);
  expect(calls.length).toBe(2 * repeats);
  expect(paid.length).toBe(repeats);
  for (const { cost, state, output } of paid)
    expect({ cost, output, state: CHARGE_STATES[state] }).toEqual({
      cost: COST,
      output: 20,
      state: "metered",
    });
  for (const { cost, status } of calls.filter(({ tries }) => tries === 0))
    expect({ cost, status }).toEqual({ cost: 0, status: 200 });
  expect(spent.get(budgetAccount("all", 0))).toBe(repeats * COST);
  await gateway.stop();
});

test("a limit on the number of calls counts the repeat, which it does not refuse", async () => {
  const upstream = gatedUpstream();
  const gateway = await startBooked(
    { ...chatHost(upstream.url), paidOnce: { enabled: true } },
    [],
    [rate("all", { rpm: 2 })],
  );
  const name = { "idempotency-key": "one" };
  await cut(gateway.url, "one, at 1", 1, name);
  upstream.release("one, at 1");
  for (let turn = 0; turn < 2; turn++)
    expect(await (await ask(gateway.url, "one, at 1", name)).text()).toBe(WHOLE);
  expect((await ask(gateway.url, "another")).status).toBe(429);
  expect(upstream.requests.length).toBe(1);
  await gateway.stop();
  upstream.stop();
});
