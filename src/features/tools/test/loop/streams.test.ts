/** Streams of answers whose tools weir runs. */
import { expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { openaiClient } from "../../../../../test/helpers/sdk.ts";
import { until } from "../../../../../test/helpers/upstream.ts";
import { FakeBench, text } from "./bench.ts";
import { MODEL_FORMATS, TURN_TOKENS } from "./model.ts";
import { findTea, linesOf, makeStage, type Stage } from "./stage.ts";

const stage = makeStage();

function stream({ gateway }: Stage, model = "chat-completions/m", signal?: AbortSignal) {
  const params = {
    model,
    messages: [{ role: "user", content: "Is there tea?" }],
    tools: [{ type: "mcp", server_label: "shop", server_url: "weir/shop" }],
    stream: true,
    stream_options: { include_usage: true },
  } as unknown as OpenAI.ChatCompletionCreateParamsStreaming;
  return openaiClient(gateway.url).chat.completions.create(params, signal ? { signal } : {});
}

test.each(MODEL_FORMATS.map((format) => [format]))(
  "say what the model says, with a model of %s",
  async (format) => {
    const on = await stage(findTea);
    const said: string[] = [];
    let usage: OpenAI.CompletionUsage | null | undefined;
    const finishes: string[] = [];
    for await (const { choices, usage: counts } of await stream(on, `${format}/m`)) {
      const { delta, finish_reason: finish } = choices[0] ?? {};
      if (delta?.content) said.push(delta.content);
      expect(delta?.tool_calls).toBeUndefined();
      if (finish) finishes.push(finish);
      usage = counts ?? usage;
    }
    expect(said.join("")).toBe("I look.\n\nI know: found tea");
    expect(finishes).toEqual(["stop"]);
    expect(usage).toMatchObject({
      prompt_tokens: 2 * TURN_TOKENS.input,
      completion_tokens: 2 * TURN_TOKENS.output,
    });
  },
);

test("pass on each turn as it comes", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const bench = new FakeBench({
    shop__find: async () => {
      await promise;
      return text("tea");
    },
  });
  const on = await stage(findTea, { bench });
  let isFirst = true;
  for await (const { choices } of await stream(on)) {
    if (!choices[0]?.delta.content) continue;
    // The tool runs on until the client has the first turn.
    if (isFirst) expect(choices[0].delta.content).toBe("I look.");
    isFirst = false;
    resolve();
  }
  expect(isFirst).toBeFalse();
});

test("stop with the client, and with them the running tool and the turns to come", async () => {
  let stopped = 0;
  const bench = new FakeBench({
    shop__find: (_, { stop }) =>
      new Promise((_resolve, reject) => {
        stop!.addEventListener("abort", () => reject(new Error(`stopped ${++stopped}`)));
      }),
  });
  const on = await stage(findTea, { bench });
  const leaving = new AbortController();
  const reading = (async () => {
    for await (const { choices } of await stream(on, undefined, leaving.signal))
      if (choices[0]?.delta.content) setTimeout(() => leaving.abort(), 50);
  })();
  await reading.catch(() => {});
  await until(
    () => stopped === 1 && bench.running === 0,
    2_000,
    () => `the tool runs: ${bench.running}`,
  );
  await Bun.sleep(100);
  expect(on.model.heard.length).toBe(1);
  const id = on.gateway.log.flatMap((line) => /"parent":"(req_[\w-]+)"/.exec(line)?.[1] ?? [])[0]!;
  const lines = await linesOf(on, id);
  expect(lines.map(({ format, outcome }) => `${String(format)} ${String(outcome)}`).sort()).toEqual([
    "call.ask complete",
    "chat-completions cancelled",
    "work cancelled",
  ]);
});

test("that fail in a later turn end with an error", async () => {
  const on = await stage((heard) => (heard.count > 0 ? { status: 400 } : findTea(heard)));
  const said: string[] = [];
  const reading = (async () => {
    for await (const { choices } of await stream(on)) said.push(choices[0]?.delta.content ?? "");
  })();
  expect(await reading.catch((thrown: Error) => thrown.message)).toBeString();
  expect(said.join("")).toBe("I look.");
});
