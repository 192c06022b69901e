/** Routing by latency and by cost over real sockets. */
import { expect, test } from "bun:test";
import { answering, ask, failing, makeStage, places } from "../helpers/places.ts";
import type { Handler } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();

const later =
  (ms: number): Handler =>
  async (request) => {
    await Bun.sleep(ms);
    return answering(request);
  };

const CALLS = 40;

/** Calls of so many conversations, one after the other. @returns the deployment or model that answered each */
async function askAll(running: { url: string }, body: object, header: string): Promise<(string | null)[]> {
  const answered: (string | null)[] = [];
  for (let call = 0; call < CALLS; call++) {
    const { status, headers } = await ask(running, { body, headers: { "x-session-id": `s${call}` } });
    expect(status).toBe(200);
    answered.push(headers.get(header));
  }
  return answered;
}

test("by latency: the fast host answers, and one that fails fast is not fast", async () => {
  let calls = 0;
  const fails = upstream((request) => (calls++ % 2 === 0 ? failing(500) : answering(request)));
  const [fast, slow] = [upstream(later(20)), upstream(later(200))];
  const providers = places([fails.url, fast.url, slow.url]);
  const running = await gateway({ providers, routing: { "openai/*": "latency" } });
  const answered = await askAll(running, { stream: true }, "x-weir-deployment");
  expect(answered.filter((name) => name === "openai/d1").length).toBeGreaterThan(CALLS / 2);
  // One call measures a host, and few are tried again by chance.
  expect(fails.requests.length).toBeLessThan(CALLS / 4);
  expect(slow.requests.length).toBeLessThan(CALLS / 4);
});

test("by cost: a route asks its cheapest model, and the next one when that fails", async () => {
  const host = upstream((request) =>
    request.body.includes('"cheapest"') ? failing(500) : answering(request),
  );
  const price = (dollars: number) => ({ input: dollars, output: dollars });
  const running = await gateway({
    providers: places([host.url]),
    routes: { smart: ["openai/dear", "openai/cheap", "openai/cheapest"] },
    routing: { smart: "cost" },
    prices: { "openai/dear": price(9), "openai/cheap": price(2), "openai/cheapest": price(1) },
  });
  const [first] = await askAll(running, { model: "smart" }, "x-weir-tried");
  expect(first).toContain("openai");
  const asked = host.requests.map(({ body }) => (JSON.parse(String(body)) as { model: string }).model);
  expect(asked.slice(0, 2)).toEqual(["cheapest", "cheap"]);
  expect(asked).not.toContain("dear");
});
