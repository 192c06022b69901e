/** When a guard that asks judges, and what a client may have got by then. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { APIS, eventsIn, LANES } from "../../../../test/helpers/guarded.ts";
import { json, sse } from "../../../../test/helpers/upstream.ts";
import { ask, type Asked, chatProvider, ENDS, post, Servers, textOf, WORD, wordsIn } from "./servers.ts";

setDefaultTimeout(60_000);

const servers = new Servers();
const { providers } = servers.speaking(["m"]);
const gatewayWith = (guards: JsonObject, more: JsonObject = {}) =>
  servers.gateway(guards, { providers, ...more });

/** It lets go on what can be no beginning of the word. */
const hold = ({ texts }: Asked) =>
  texts.map(({ text }) => {
    for (let size = Math.min(WORD.length - 1, text.length); size > 0; size--)
      if (text.endsWith(WORD.slice(0, size))) return text.length - size;
    return text.length;
  });

const finding = () =>
  servers.service((asked) => ({ verdict: "pass", findings: wordsIn(asked), hold: hold(asked) }));

const LONG = "SAY something harmless that goes on for a while, and only then";

describe("hold: nothing of a blocked answer goes on, and a status says so", async () => {
  const hook = finding();
  const gateway = await gatewayWith({ asks: { webhook: hook.url, do: "block", on: "output" } });
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      for (const stream of [false, true]) {
        const blocked = await ask(gateway, format, `p-${spoken}/m`, `${LONG} ${WORD} of 3`, stream);
        const text = await textOf(blocked);
        expect([stream, blocked.status, text.includes(WORD)]).toEqual([stream, 400, false]);
        expect(text).toContain("The guard");
        const passed = await ask(gateway, format, `p-${spoken}/m`, `${LONG} of 3`, stream);
        expect(APIS[format]!.read(eventsIn(await textOf(passed))).text).toBe(`${LONG} of 3`);
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
          const response = await ask(gateway, format, `p-${spoken}/m`, said, true);
          const text = await textOf(response);
          expect([size, text.includes(WORD)]).toEqual([size, false]);
          expect(APIS[format]!.read(eventsIn(text)).text).toBe(said.replaceAll(WORD, "[WORD]"));
          expect(text).toMatch(ENDS);
        }
      });
});

test("window: what a verdict holds back stays back, also if the answer has ended meanwhile", async () => {
  const hook = servers.service(async (asked) => {
    if (!asked.final) await Bun.sleep(500);
    return { verdict: "pass", findings: wordsIn(asked), hold: hold(asked) };
  });
  const piece = (content: string, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
  const upstream = servers.upstream(() =>
    sse([
      piece(`so ${WORD.slice(0, 7)}`),
      { wait: 150 },
      piece(`${WORD.slice(7)}!`, "stop"),
      "data: [DONE]\n\n",
    ]),
  );
  const gateway = await gatewayWith(
    { asks: { webhook: { url: hook.url, holds: true }, do: "mask", on: "output", mode: "window" } },
    { providers: { p: chatProvider(upstream) } },
  );
  const response = await post(`${gateway.url}/v1/chat/completions`, {
    model: "p/m",
    stream: true,
    messages: [{ role: "user", content: "hi" }],
  });
  const text = await textOf(response);
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
        const response = await ask(gateway, format, `p-${spoken}/m`, said, true);
        const text = await textOf(response);
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
  const hook = servers.service(async (asked) => {
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
  const response = await ask(gateway, "chat-completions", "p-messages/m", said, true);
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
  const hook = servers.service(() => ({ verdict: "pass" }));
  const gateway = await gatewayWith({
    asks: { webhook: { url: hook.url, holds: true }, do: "block", on: "output", mode: "window" },
  });
  const response = await ask(gateway, "chat-completions", "p-messages/m", `${LONG} of 3`, true);
  expect([response.status, (await response.text()).includes("harmless")]).toEqual([503, false]);
});

test("after: each so many characters are judged, and the provider is stopped", async () => {
  const hook = finding();
  let sent = 0;
  const slow = servers.upstream(() =>
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
  const gateway = await gatewayWith(
    { asks: { webhook: hook.url, do: "block", on: "output", mode: "after", every: 200 } },
    {
      providers: {
        slow: chatProvider(slow),
      },
    },
  );
  const answer = await post(`${gateway.url}/v1/chat/completions`, {
    model: "slow/m",
    stream: true,
    messages: [{ role: "user", content: "hi" }],
  });
  const text = await textOf(answer);
  expect([answer.status, text.includes("The guard"), ENDS.test(text)]).toEqual([200, true, false]);
  expect(sent).toBeLessThan(300);
  await slow.quiet();
  const pieces = hook.asked().map(({ texts: [one], final }) => [one!.from ?? 0, one!.text.length, final]);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.every(([, length, final]) => (length as number) < 600 && final === false)).toBe(true);
});

test("guards of an answer see what the ones before made, and no value of the caller", async () => {
  const hook = servers.service(() => ({ verdict: "pass" }));
  const gateway = await gatewayWith({
    pii: { find: ["email"], do: "replace" },
    cards: { find: ["card"], do: "mask", on: "output" },
    asks: { webhook: hook.url, do: "block", on: "output" },
    last: { find: [{ name: "word", pattern: WORD, longest: 10 }], do: "mask", on: "output" },
  });
  for (const stream of [false, true]) {
    const said = `SAY anna@example.com, 4111 1111 1111 1111, ${WORD} of 3`;
    const response = await ask(gateway, "chat-completions", "p-chat-completions/m", said, stream);
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
  const hook = servers.upstream(() => json({}, 500));
  for (const stream of [false, true])
    for (const mode of ["hold", "after"]) {
      const asks = { webhook: hook.url, do: "block", on: "output", mode };
      const strict = await gatewayWith({ asks });
      const refused = await ask(strict, "chat-completions", "p-messages/m", `${LONG} of 3`, stream);
      const text = await textOf(refused);
      expect([text.includes("cannot judge"), ENDS.test(text)]).toEqual([true, false]);
      if (mode === "hold" || !stream)
        expect([refused.status, text.includes("harmless")]).toEqual([503, false]);
      const lenient = await gatewayWith({ asks: { ...asks, onError: "pass" } });
      const passed = await ask(lenient, "chat-completions", "p-messages/m", `${LONG} of 3`, stream);
      const whole = await passed.text();
      expect(APIS["chat-completions"]!.read(eventsIn(whole)).text).toBe(`${LONG} of 3`);
      expect(`${passed.headers.get("x-weir-guards")} ${whole}`).toContain("asks=unavailable");
    }
});

test("a provider that falls silent while a guard keeps its answer back is cut off", async () => {
  const stuck = servers.upstream(() =>
    sse(
      (function* () {
        const choices = [{ index: 0, delta: { role: "assistant", content: "" } }];
        yield `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices })}\n\n`;
        yield { wait: 60_000 };
      })(),
    ),
  );
  const find = [{ name: "word", pattern: WORD, longest: 10 }];
  const { url } = servers.service(() => ({ verdict: "pass" }));
  for (const guard of [
    { find, do: "block", on: "output" },
    { find, do: "mask", on: "output", mode: "hold" },
    { webhook: url, do: "mask", on: "output", mode: "hold" },
  ]) {
    const gateway = await gatewayWith(
      { one: guard as JsonObject },
      {
        providers: {
          stuck: chatProvider(stuck),
        },
        timeouts: { gapMs: 1_000, holdMs: 500, heartbeatMs: 300 },
      },
    );
    const before = performance.now();
    const response = await post(`${gateway.url}/v1/chat/completions`, {
      model: "stuck/m",
      stream: true,
      messages: [{ role: "user", content: "hi" }],
    });
    expect(await textOf(response)).toContain("sent nothing for 1 s");
    expect(performance.now() - before).toBeLessThan(15_000);
    await stuck.quiet();
  }
});
