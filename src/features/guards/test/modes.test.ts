/** When a guard that asks judges, and what a client may have got by then. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Json, JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { APIS, eventsIn, LANES, provide, SPOKEN } from "../../../../test/helpers/guarded.ts";
import {
  json,
  silence,
  sse,
  startUpstream,
  type Upstream,
  type UpstreamRequest,
} from "../../../../test/helpers/upstream.ts";
import { patient } from "./patient.ts";

setDefaultTimeout(60_000);

const open: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const one of open) await one.stop();
});

interface Text {
  readonly index: number;
  readonly text: string;
  readonly from?: number;
}
interface Asked extends JsonObject {
  readonly phase: string;
  readonly final: boolean;
  readonly texts: (Text & JsonObject)[];
}

const askedOf = ({ body }: UpstreamRequest) => JSON.parse(body.toString()) as Asked;

function service(answer: (asked: Asked) => Json | Promise<Json>): Upstream & { asked(): Asked[] } {
  const upstream = startUpstream(async (request) => json(await answer(askedOf(request))));
  open.push(upstream);
  return Object.assign(upstream, { asked: () => upstream.requests.map(askedOf) });
}

const WORD = "xyzzy-4711";

/** A service that finds a word. */
const find = ({ texts }: Asked) =>
  texts.flatMap(({ index, text }) =>
    [...text.matchAll(new RegExp(WORD, "g"))].map(({ index: start }) => ({
      ...{ index, start, end: start + WORD.length, type: "WORD" },
    })),
  );

/** It lets go on what can be no beginning of the word. */
const hold = ({ texts }: Asked) =>
  texts.map(({ text }) => {
    for (let size = Math.min(WORD.length - 1, text.length); size > 0; size--)
      if (text.endsWith(WORD.slice(0, size))) return text.length - size;
    return text.length;
  });

const finding = () => service((asked) => ({ verdict: "pass", findings: find(asked), hold: hold(asked) }));

const speaking = Object.entries(SPOKEN).map(([format, client]) => {
  const upstream = startUpstream((request) => provide(client, request));
  open.push(upstream);
  return { format, upstream };
});
const PROVIDERS = Object.fromEntries(
  speaking.map(({ format, upstream: { url } }) => [
    `p-${format}`,
    {
      ...{ speaks: format, baseUrl: format === "messages" ? url : `${url}/v1`, apiKey: "k-1234567" },
      models: ["m"],
    },
  ]),
);

async function gatewayWith(guards: JsonObject, more: JsonObject = {}): Promise<RunningGateway> {
  const gateway = await startGateway({
    config: { guards: patient(guards), providers: PROVIDERS, log: { format: "json" }, ...more },
  });
  open.push(gateway);
  return gateway;
}

/** Asks for an answer that says something. */
function ask(gateway: RunningGateway, format: string, spoken: string, said: string, stream: boolean) {
  const { path, body } = APIS[format]!;
  const { tools: _, ...plain } = body(`p-${spoken}/m`, stream, said);
  return fetch(gateway.url + path(`p-${spoken}/m`, stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(plain),
  });
}

/** What a client gets of an answer, which may break off. */
async function bodyOf(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch {
    // The connection was closed without the end of the body.
  }
  return text;
}

const ENDS =
  /\[DONE\]|message_stop|response\.completed|"finish_reason":"stop"|"finishReason":"STOP"|"done":true/;
const LONG = "SAY something harmless that goes on for a while, and only then";

describe("hold: nothing of a blocked answer goes on, and a status says so", async () => {
  const hook = finding();
  const gateway = await gatewayWith({ asks: { webhook: hook.url, do: "block", on: "output" } });
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      for (const stream of [false, true]) {
        const blocked = await ask(gateway, format, spoken, `${LONG} ${WORD} of 3`, stream);
        const text = await bodyOf(blocked);
        expect([stream, blocked.status, text.includes(WORD)]).toEqual([stream, 400, false]);
        expect(text).toContain("The guard");
        const passed = await ask(gateway, format, spoken, `${LONG} of 3`, stream);
        expect(APIS[format]!.read(eventsIn(await bodyOf(passed))).text).toBe(`${LONG} of 3`);
        expect(passed.status).toBe(200);
      }
    });
});

describe("hold and window: the result is what the whole text gives", async () => {
  const hook = finding();
  const gateways = {
    hold: await gatewayWith({ asks: { webhook: hook.url, do: "mask", on: "output" } }),
    window: await gatewayWith({
      asks: { webhook: { url: hook.url, holds: true }, do: "mask", on: "output", mode: "window", overlap: 5 },
    }),
  };
  for (const [mode, gateway] of Object.entries(gateways))
    for (const [format, spoken] of LANES)
      test(`${mode}: ${format}, ${format === spoken ? "native" : "translated"}`, async () => {
        for (const size of [1, 3, 200]) {
          const said = `${LONG} ${WORD}${WORD}, xyzzy and xyzzy-47 ${WORD}, of ${size} xyzzy-4`;
          const response = await ask(gateway, format, spoken, said, true);
          const text = await bodyOf(response);
          expect([size, text.includes(WORD)]).toEqual([size, false]);
          expect(APIS[format]!.read(eventsIn(text)).text).toBe(said.replaceAll(WORD, "[WORD]"));
          expect(text).toMatch(ENDS);
        }
      });
});

test("window: what a verdict holds back stays back, also if the answer has ended meanwhile", async () => {
  const hook = service(async (asked) => {
    if (!asked.final) await Bun.sleep(500);
    return { verdict: "pass", findings: find(asked), hold: hold(asked) };
  });
  const piece = (content: string, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
  const upstream = startUpstream(() =>
    sse([
      piece(`so ${WORD.slice(0, 7)}`),
      { wait: 150 },
      piece(`${WORD.slice(7)}!`, "stop"),
      "data: [DONE]\n\n",
    ]),
  );
  open.push(upstream);
  const gateway = await gatewayWith(
    { asks: { webhook: { url: hook.url, holds: true }, do: "mask", on: "output", mode: "window" } },
    { providers: { p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, models: ["m"] } } },
  );
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "p/m", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  const text = await bodyOf(response);
  expect(APIS["chat-completions"]!.read(eventsIn(text)).text).toBe("so [WORD]!");
});

describe("window and after: a blocked stream breaks off, and never ends as if it were complete", async () => {
  const hook = finding();
  const gateways = {
    window: await gatewayWith({
      asks: { webhook: { url: hook.url, holds: true }, do: "block", on: "output", mode: "window" },
    }),
    after: await gatewayWith({ asks: { webhook: hook.url, do: "block", on: "output", mode: "after" } }),
  };
  for (const [mode, gateway] of Object.entries(gateways))
    for (const [format, spoken] of LANES)
      test(`${mode}: ${format}, ${format === spoken ? "native" : "translated"}`, async () => {
        const said = `${LONG} ${WORD}, of 3 and more behind it`;
        const response = await ask(gateway, format, spoken, said, true);
        const text = await bodyOf(response);
        expect(text).toContain("The guard");
        expect(text).not.toMatch(ENDS);
        if (response.status === 400) return expect(mode).toBe("window");
        const read = APIS[format]!.read(eventsIn(text)).text;
        expect(said.startsWith(read)).toBe(true);
        // The client may have what was said before the verdict, but its last text waits for it.
        if (mode === "after") expect(read.length).toBeGreaterThan(said.length - 10);
        else expect(text).not.toContain(WORD);
        expect(read.length).toBeLessThan(said.length);
      });
});

test("window: pieces overlap, say where they begin, and one question waits for the other", async () => {
  let most = 0;
  let running = 0;
  const hook = service(async (asked) => {
    most = Math.max(most, ++running);
    await Bun.sleep(30);
    running--;
    return { verdict: "pass", hold: hold(asked) };
  });
  const gateway = await gatewayWith({
    asks: {
      ...{ webhook: { url: hook.url, holds: true }, do: "block", on: "output" },
      ...{ mode: "window", overlap: 4 },
    },
  });
  const said = `${LONG.repeat(3)} of 3`;
  const response = await ask(gateway, "chat-completions", "messages", said, true);
  expect(APIS["chat-completions"]!.read(eventsIn(await response.text())).text).toBe(said);
  expect(most).toBe(1);
  let known = "";
  for (const { phase, texts } of hook.asked()) {
    const { from = 0, text } = texts[0]!;
    expect([phase, texts.length, from <= known.length]).toEqual(["output", 1, true]);
    if (from > 0) expect(known.length - from).toBeLessThanOrEqual(4 + WORD.length);
    expect(known.slice(from)).toBe(text.slice(0, known.length - from));
    known = known.slice(0, from) + text;
  }
  expect(known).toBe(said);
});

test("window: a service that does not say how much may go on gave no verdict", async () => {
  const hook = service(() => ({ verdict: "pass" }));
  const gateway = await gatewayWith({
    asks: { webhook: { url: hook.url, holds: true }, do: "block", on: "output", mode: "window" },
  });
  const response = await ask(gateway, "chat-completions", "messages", `${LONG} of 3`, true);
  expect([response.status, (await response.text()).includes("harmless")]).toEqual([503, false]);
});

test("after: each so many characters are judged, and the provider is stopped", async () => {
  const hook = finding();
  let sent = 0;
  const slow = startUpstream(() =>
    sse(
      (function* () {
        yield `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] })}\n\n`;
        for (; sent < 2_000; sent++) {
          const content = sent === 30 ? ` ${WORD} ` : "0123456789";
          yield `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
          yield { wait: 5 };
        }
      })(),
    ),
  );
  open.push(slow);
  const gateway = await gatewayWith(
    { asks: { webhook: hook.url, do: "block", on: "output", mode: "after", every: 200 } },
    {
      providers: {
        slow: { speaks: "chat-completions", baseUrl: `${slow.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
    },
  );
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "slow/m", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  const text = await bodyOf(answer);
  expect([answer.status, text.includes("The guard"), ENDS.test(text)]).toEqual([200, true, false]);
  expect(sent).toBeLessThan(300);
  await slow.quiet();
  const pieces = hook.asked().map(({ texts: [one], final }) => [one!.from ?? 0, one!.text.length, final]);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.every(([, length, final]) => (length as number) < 600 && final === false)).toBe(true);
});

describe("beside: the provider works while the guard judges", () => {
  const delayed = (ms: number) => {
    const upstream = startUpstream(async () => {
      await Bun.sleep(ms);
      return json({
        id: "c_1",
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    });
    open.push(upstream);
    return upstream;
  };
  const besideWith = async (upstream: Upstream, url: string) =>
    gatewayWith(
      { asks: { webhook: url, do: "block", on: "input", mode: "beside", timeout: "5s" } },
      {
        providers: {
          slow: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
        },
      },
    );
  const say = ({ url }: RunningGateway, content: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "slow/m", messages: [{ role: "user", content }] }),
    });

  test("the time to the first byte is that of the slower one", async () => {
    const hook = service(async () => {
      await Bun.sleep(400);
      return { verdict: "pass" };
    });
    const gateway = await besideWith(delayed(400), hook.url);
    await say(gateway, "warm");
    const before = performance.now();
    expect((await say(gateway, "hello")).status).toBe(200);
    expect(performance.now() - before).toBeLessThan(700);
  });

  test("a verdict that comes behind the end of the answer: the client gets nothing of it", async () => {
    const upstream = delayed(0);
    const hook = service(async (asked) => {
      await upstream.quiet();
      await Bun.sleep(100);
      return { verdict: "pass", findings: find(asked) };
    });
    const gateway = await besideWith(upstream, hook.url);
    const response = await say(gateway, `hello ${WORD}`);
    expect([response.status, (await response.text()).includes("done")]).toEqual([400, false]);
    expect(upstream.requests.length).toBe(1);
  });

  test("an early verdict stops the provider", async () => {
    const upstream = startUpstream(() => silence());
    open.push(upstream);
    const hook = service(async (asked) => {
      await upstream.arrived(1);
      return { verdict: "pass", findings: find(asked) };
    });
    const gateway = await besideWith(upstream, hook.url);
    const response = await say(gateway, `hello ${WORD}`);
    const { error } = (await response.json()) as { error: JsonObject };
    expect([response.status, error["code"]]).toEqual([400, "blocked_by_guard"]);
    await upstream.quiet();
    expect(upstream.requests.map(({ state }) => state)).toEqual(["closed"]);
  });

  test("as a refusal, which the client gets whole although the call was stopped", async () => {
    const upstream = startUpstream(() => silence());
    open.push(upstream);
    const hook = service((asked) => ({ verdict: "pass", findings: find(asked) }));
    const gateway = await gatewayWith(
      { asks: { webhook: hook.url, do: "block", on: "input", mode: "beside", as: "refusal" } },
      {
        providers: {
          slow: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
        },
      },
    );
    for (const stream of [false, true]) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "slow/m", stream, messages: [{ role: "user", content: WORD }] }),
      });
      const text = await bodyOf(response);
      expect([stream, response.status, text.includes('"content_filter"')]).toEqual([stream, 200, true]);
      expect(text).toContain("The guard");
      if (stream) expect(text).toContain("[DONE]");
    }
    await upstream.quiet();
  });

  test("a guard without a verdict stops the provider too", async () => {
    const upstream = startUpstream(() => silence());
    open.push(upstream);
    const hook = startUpstream(async () => {
      await upstream.arrived(1);
      return json({}, 500);
    });
    open.push(hook);
    const gateway = await besideWith(upstream, hook.url);
    expect((await say(gateway, "hello")).status).toBe(503);
    await upstream.quiet();
  });
});

test("guards of an answer see what the ones before made, and no value of the caller", async () => {
  const hook = service(() => ({ verdict: "pass" }));
  const gateway = await gatewayWith({
    pii: { find: ["email"], do: "replace" },
    cards: { find: ["card"], do: "mask", on: "output" },
    asks: { webhook: hook.url, do: "block", on: "output" },
    last: { find: [{ name: "word", pattern: WORD, longest: 10 }], do: "mask", on: "output" },
  });
  for (const stream of [false, true]) {
    const said = `SAY anna@example.com, 4111 1111 1111 1111, ${WORD} of 3`;
    const response = await ask(gateway, "chat-completions", "chat-completions", said, stream);
    const text = await response.text();
    expect(APIS["chat-completions"]!.read(eventsIn(text)).text).toBe(
      "SAY anna@example.com, [CARD], [WORD] of 3",
    );
    const { texts } = hook.asked().at(-1)!;
    expect(texts.map((one) => one.text)).toEqual([
      expect.stringMatching(/^SAY PII_EMAIL_[a-z2-7]{8}, \[CARD\], xyzzy-4711 of 3$/),
    ]);
  }
});

test("an answer without a verdict does not go on, or goes on and says so", async () => {
  const hook = startUpstream(() => json({}, 500));
  open.push(hook);
  for (const stream of [false, true])
    for (const mode of ["hold", "after"]) {
      const asks = { webhook: hook.url, do: "block", on: "output", mode };
      const strict = await gatewayWith({ asks });
      const refused = await ask(strict, "chat-completions", "messages", `${LONG} of 3`, stream);
      const text = await bodyOf(refused);
      expect([text.includes("cannot judge"), ENDS.test(text)]).toEqual([true, false]);
      if (mode === "hold" || !stream)
        expect([refused.status, text.includes("harmless")]).toEqual([503, false]);
      const lenient = await gatewayWith({ asks: { ...asks, onError: "pass" } });
      const passed = await ask(lenient, "chat-completions", "messages", `${LONG} of 3`, stream);
      const whole = await passed.text();
      expect(APIS["chat-completions"]!.read(eventsIn(whole)).text).toBe(`${LONG} of 3`);
      expect(`${passed.headers.get("x-weir-guards")} ${whole}`).toContain("asks=unavailable");
    }
});

test("a provider that falls silent while a guard keeps its answer back is cut off", async () => {
  const stuck = startUpstream(() =>
    sse(
      (function* () {
        const choices = [{ index: 0, delta: { role: "assistant", content: "" } }];
        yield `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices })}\n\n`;
        yield { wait: 60_000 };
      })(),
    ),
  );
  open.push(stuck);
  const find = [{ name: "word", pattern: WORD, longest: 10 }];
  const { url } = service(() => ({ verdict: "pass" }));
  for (const guard of [
    { find, do: "block", on: "output" },
    { find, do: "mask", on: "output", mode: "hold" },
    { webhook: url, do: "mask", on: "output", mode: "hold" },
  ]) {
    const gateway = await gatewayWith(
      { one: guard as JsonObject },
      {
        providers: {
          stuck: { speaks: "chat-completions", baseUrl: `${stuck.url}/v1`, apiKey: "k-1", models: ["m"] },
        },
        timeouts: { gapMs: 1_000, holdMs: 500, heartbeatMs: 300 },
      },
    );
    const before = performance.now();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "stuck/m", stream: true, messages: [{ role: "user", content: "hi" }] }),
    });
    expect(await bodyOf(response)).toContain("sent nothing for 1 s");
    expect(performance.now() - before).toBeLessThan(15_000);
    await stuck.quiet();
  }
});
