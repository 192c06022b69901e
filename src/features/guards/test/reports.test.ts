/** Reports about guards of other gateways that concern streams, modes and failures: each is what must not happen here. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import type { RunningGateway } from "../../../../test/helpers/gateway.ts";
import { APIS, eventsIn, LANES } from "../../../../test/helpers/guarded.ts";
import { html, json, silence, sse, type Upstream } from "../../../../test/helpers/upstream.ts";
import { ask, chatProvider, ENDS, Servers, textOf, WORD } from "./servers.ts";

setDefaultTimeout(60_000);

const servers = new Servers();
const { providers } = servers.speaking(["m", "free"]);
const gatewayWith = (guards: JsonObject, more: JsonObject = {}) =>
  servers.gateway(guards, { providers, ...more });

const find = [{ name: "word", pattern: WORD, longest: 10 }];

/** A service that judges by the word. */
const judge = (): Upstream =>
  servers.upstream(({ body }) => json({ verdict: body.includes(WORD) ? "block" : "pass" }));

async function recordOf(gateway: RunningGateway, id: string | null): Promise<JsonObject> {
  for (let waited = 0; waited < 5_000; waited += 20) {
    const line = gateway.log.find((one) => one.includes(`"id":"${id}"`));
    if (line !== undefined) return JSON.parse(line) as JsonObject;
    await Bun.sleep(20);
  }
  throw new Error(`no record of ${id}`);
}

describe("litellm#35257: guards of answers run on streams, and the record says what they did", async () => {
  const exact = await gatewayWith({ said: { find, do: "block", on: "output" } });
  const asks = await gatewayWith({ said: { webhook: judge().url, on: "output" } });
  for (const [name, gateway] of Object.entries({ exact, asks }))
    for (const [format, spoken] of LANES)
      test(`${name}: ${format}, ${format === spoken ? "native" : "translated"}`, async () => {
        const response = await ask(gateway, format, `p-${spoken}/m`, `SAY ${WORD} of 3`, true);
        const text = await textOf(response);
        expect([text.includes("The guard"), text.includes(WORD), ENDS.test(text)]).toEqual([
          ...[true, false, false],
        ]);
        // What stands in front of a value may have gone on, unless the whole answer is judged first.
        if (name === "asks") expect(response.status).toBe(400);
        const record = await recordOf(gateway, response.headers.get("x-request-id"));
        expect(record).toMatchObject({
          outcome: "failed",
          guards: [{ name: "said", phases: { output: "blocked" } }],
        });
      });
});

describe("litellm#36085: a guard of a model runs in every format that asks for the model", async () => {
  const gateway = await gatewayWith({
    exact: { find, do: "block", on: "input", models: ["*/m"] },
    asks: { webhook: judge().url, on: "input", models: ["*/m"] },
  });
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      for (const stream of [false, true]) {
        const refused = await ask(gateway, format, `p-${spoken}/m`, `SAY ${WORD} of 3`, stream);
        expect([stream, refused.status]).toEqual([stream, 400]);
        const free = await ask(gateway, format, `p-${spoken}/free`, `SAY ${WORD} of 3`, stream);
        const said = APIS[format]!.read(eventsIn(await free.text())).text;
        expect([stream, free.status, said]).toEqual([stream, 200, `SAY ${WORD} of 3`]);
      }
    });
});

test("agentgateway#2956: rules of answers fire on a stream, whatever the model says first", async () => {
  const gateway = await gatewayWith({ said: { find, do: "mask", on: "output" } });
  for (const size of [1, 2, 7, 200]) {
    const said = `SAY something long first, and then ${WORD} of ${size}`;
    const response = await ask(gateway, "chat-completions", "p-chat-completions/m", said, true);
    const { text } = APIS["chat-completions"]!.read(eventsIn(await response.text()));
    expect(text).toBe(said.replace(WORD, "[WORD]"));
  }
});

test("agentgateway#3603: a guard of other models and keys leaves a stream as it is", async () => {
  const guards = {
    other: { find, do: "block", models: ["nowhere/*"] },
    keys: { webhook: judge().url, keys: ["/finance"] },
    requests: { find, do: "block", on: "input" },
  };
  const without = await gatewayWith({});
  const gateway = await gatewayWith(guards);
  for (const [format, spoken] of LANES) {
    const said = "SAY something of 3";
    const [one, other] = await Promise.all(
      [without, gateway].map(async (each) => {
        const response = await ask(each, format, `p-${spoken}/m`, said, true);
        return APIS[format]!.read(eventsIn(await response.text())).text;
      }),
    );
    expect([format, other]).toEqual([format, one]);
    expect(other).toBe(said);
  }
});

test("agentgateway#3477: an answer that a guard holds is cut by no limit on silence", async () => {
  const slow = servers.upstream(() =>
    sse(
      (function* () {
        const chunk = (delta: JsonObject, finish: string | null = null) =>
          `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
        for (let piece = 0; piece < 30; piece++) {
          yield chunk({ content: `piece ${piece} ` });
          yield { wait: 150 };
        }
        yield chunk({}, "stop");
        yield "data: [DONE]\n\n";
      })(),
    ),
  );
  const gateway = await gatewayWith(
    { asks: { webhook: judge().url, on: "output", mode: "hold" } },
    {
      providers: {
        slow: chatProvider(slow),
      },
      timeouts: { gapMs: 1_000, holdMs: 500, heartbeatMs: 500 },
    },
  );
  const response = await ask(gateway, "chat-completions", "slow/m", "hello", true);
  const text = await response.text();
  expect(APIS["chat-completions"]!.read(eventsIn(text)).text).toContain("piece 29");
  expect(text).toContain("[DONE]");
});

describe("aisix#204: stream: true is no way around a guard", async () => {
  const gateways = {
    exact: await gatewayWith({ said: { find, do: "block" } }),
    asks: await gatewayWith({ said: { webhook: judge().url } }),
    window: await gatewayWith({
      said: {
        ...{ webhook: { url: judge().url, holds: true }, on: "input", mode: ["before", "window"] },
      },
    }),
  };
  for (const [name, gateway] of Object.entries(gateways))
    for (const [format, spoken] of LANES)
      test(`${name}: ${format}, ${format === spoken ? "native" : "translated"}`, async () => {
        for (const stream of [false, true]) {
          const response = await ask(gateway, format, `p-${spoken}/m`, `SAY ${WORD} of 3`, stream);
          const text = await textOf(response);
          expect([stream, response.status, text.includes(WORD)]).toEqual([stream, 400, false]);
        }
      });
});

describe("langwatch#6157, conductai#823: what fails closed lets nothing pass, in requests and answers", () => {
  const FAILURES = {
    "status 500": () => html(500),
    "no JSON": () => html(200),
    "no verdict": () => json({ ok: true }),
    silence: () => silence(),
  };
  for (const [name, answer] of Object.entries(FAILURES))
    test(name, async () => {
      const hook = servers.upstream(answer);
      for (const [on, mode] of [
        ...[["input", "before"] as const, ["input", "beside"] as const],
        ...[["output", "hold"] as const, ["output", "after"] as const],
      ]) {
        const gateway = await gatewayWith({ asks: { webhook: hook.url, on, mode, timeout: "200ms" } });
        for (const stream of [false, true]) {
          const response = await ask(gateway, "messages", "p-messages/m", "SAY harmless of 3", stream);
          const text = await textOf(response);
          expect([on, mode, stream, text.includes("cannot judge")]).toEqual([on, mode, stream, true]);
          if (mode === "after" && stream) expect(text).not.toContain("message_stop");
          // The status of this format for a server that cannot serve now.
          else expect([response.status, text.includes("harmless")]).toEqual([529, false]);
        }
      }
    });
});
