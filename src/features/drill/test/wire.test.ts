/** What reaches a client over the wire: requests read from a socket, and faults played on one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FAULTS, type Fault } from "../faults.ts";
import { Front, RefusingFront } from "../front.ts";
import type { Exchanges } from "../plugin.ts";
import { splitFrames } from "../whole-answer.ts";
import { Witness } from "../witness.ts";

const EVENTS = Array.from({ length: 10 }, (_, index) => `data: {"n":${index}}\n\n`);

/** Stands for the gateway with its plugin: each request asks the question that is its body. */
const exchanges: Exchanges = new Map();
let gateway: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  gateway = Bun.serve({
    port: 0,
    async fetch(request) {
      const exchange = exchanges.get(request.headers.get("x-weir-drill") ?? "")!;
      const question = await request.text();
      if (question !== "") exchange.made = exchange.witness.arrived({ question, tools: false });
      const headers = { "content-type": "text/event-stream", "x-weir-lane": "generated", "x-kept": "yes" };
      return new Response(EVENTS.join(""), { headers });
    },
  });
});

afterAll(() => gateway.stop(true));

function faultNamed(name: string): Fault {
  return FAULTS.find((fault) => fault.name === name)!;
}

async function withFront<Result>(
  name: string,
  use: (url: string, witness: Witness) => Promise<Result>,
): Promise<Result> {
  const fault = faultNamed(name);
  const witness = new Witness(
    fault,
    () => performance.now(),
    () => {},
  );
  const front = await Front.listen({ gateway: gateway.url.href, exchanges, fault, witness });
  try {
    return await use(front.url, witness);
  } finally {
    await front.close();
  }
}

const ask = (url: string, body: string | ReadableStream = "q") => fetch(url, { method: "POST", body });

test("a repeated question is answered whole, and passes headers that are not weir's own", () =>
  withFront("ended-early", async (url, witness) => {
    expect(await (await ask(url)).text()).toBe(EVENTS.slice(0, 5).join(""));
    const whole = await ask(url);
    expect(await whole.text()).toBe(EVENTS.join(""));
    expect([whole.headers.get("x-kept"), whole.headers.get("x-weir-lane")]).toEqual(["yes", null]);
    expect(witness.snapshot().map(({ faulty, left }) => [faulty, left])).toEqual([
      [true, undefined],
      [false, undefined],
    ]);
  }));

test("a request that asks for no answer is passed on and not counted", () =>
  withFront("ended-early", async (url, witness) => {
    expect(await (await fetch(`${url}/v1/models`)).text()).toBe(EVENTS.join(""));
    expect(witness.snapshot()).toEqual([]);
  }));

test("a body in chunks is read", () =>
  withFront("ended-early", async (url, witness) => {
    const chunks = new ReadableStream({
      start(controller) {
        for (const chunk of ["on", "e"]) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    });
    await (await ask(url, chunks)).text();
    await (await ask(url, "one")).text();
    expect(witness.snapshot().map(({ question, faulty }) => [question, faulty])).toEqual([
      ["one", true],
      ["one", false],
    ]);
  }));

test("a cut answer breaks the connection", () =>
  withFront("cut", async (url) => {
    const response = await ask(url);
    expect(response.status).toBe(200);
    expect(await response.text().catch(() => "broken")).toBe("broken");
  }));

test("a garbled answer has one event that is not JSON", () =>
  withFront("garbled", async (url) => {
    const events = (await (await ask(url)).text()).split("\n\n").slice(0, -1);
    const valid = events.filter((event) => {
      try {
        return JSON.parse(event.slice("data: ".length)) !== undefined;
      } catch {
        return false;
      }
    });
    expect([events.length, valid.length]).toEqual([10, 9]);
  }));

test("a stalled answer stays open until the client leaves, which is recorded", () =>
  withFront("stall", async (url, witness) => {
    const stop = new AbortController();
    const asked = fetch(url, { method: "POST", body: "q", signal: stop.signal }).catch(() => "left");
    while (witness.snapshot().length === 0) await Bun.sleep(5);
    await Bun.sleep(50);
    expect(witness.snapshot()[0]?.endedAt).toBeUndefined();
    stop.abort();
    expect(await asked).toBe("left");
    while (witness.snapshot()[0]?.endedAt === undefined) await Bun.sleep(5);
    expect(witness.snapshot()[0]).toMatchObject({ faulty: true, left: true, sent: 0 });
  }));

test("the error page of a proxy is HTML with status 502", () =>
  withFront("page", async (url) => {
    const response = await ask(url);
    expect([response.status, response.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(await response.text()).toContain("<html>");
  }));

test("an address refuses connections until its time is over", async () => {
  const fault = faultNamed("refused");
  const witness = new Witness(
    fault,
    () => performance.now(),
    () => {},
  );
  const options = { gateway: gateway.url.href, exchanges, fault, witness };
  const front = await RefusingFront.open(options, 100);
  try {
    expect(await ask(front.url).catch(() => "refused")).toBe("refused");
    const answered = async () => (await ask(front.url).catch(() => undefined))?.text();
    let text = await answered();
    for (let tries = 0; text === undefined && tries < 200; tries++) {
      await Bun.sleep(20);
      text = await answered();
    }
    expect(text).toBe(EVENTS.join(""));
  } finally {
    await front.close();
  }
});

test("events of JSON lines are split at line ends, and other bodies into pieces", () => {
  const lines = splitFrames("application/x-ndjson", Buffer.from('{"a":1}\n{"b":2}\n'));
  expect(lines.frames.map((frame) => Buffer.from(frame).toString())).toEqual(['{"a":1}\n', '{"b":2}\n']);
  const json = splitFrames("application/json", Buffer.from("x".repeat(100)));
  expect([json.isStream, json.frames.length > 10, Buffer.concat(json.frames).length]).toEqual([
    false,
    true,
    100,
  ]);
});

test("a fault of some seconds hits every request of its time, and no later one", () => {
  let now = 0;
  const witness = new Witness(
    faultNamed("rate-limited"),
    () => now,
    () => {},
  );
  const at = (time: number) => {
    now = time;
    return witness.arrived({ question: "q", tools: false }).faulty;
  };
  expect([at(0), at(10), at(1_800), at(2_000)]).toEqual([true, true, true, false]);
});

test("the broken tool call hits one request that offers tools", () => {
  const witness = new Witness(
    faultNamed("broken-call"),
    () => 0,
    () => {},
  );
  const asks = [false, true, true].map((tools) => witness.arrived({ question: String(tools), tools }).faulty);
  expect(asks).toEqual([false, true, false]);
});

test("a flood is reported once", () => {
  let floods = 0;
  const witness = new Witness(
    faultNamed("rate-limited"),
    () => 0,
    () => floods++,
  );
  for (let n = 0; n < 200; n++) witness.arrived({ question: "q", tools: false });
  expect(floods).toBe(1);
});
