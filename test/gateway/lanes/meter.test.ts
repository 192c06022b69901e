import { expect, test } from "bun:test";
import type { Attempt } from "../../../src/core/call.ts";
import { type ChatEvent, NO_USAGE, type Usage } from "../../../src/core/events.ts";
import { Stop } from "../../../src/core/stop.ts";
import { Meter } from "../../../src/gateway/lanes/meter.ts";

function meterWhole(usage: Usage) {
  const noted: number[] = [];
  const attempt = {
    stop: new Stop(),
    usage: NO_USAGE,
    outputBytes: 0,
    countsOutput: true,
    noteOutput: (bytes: number, tokens: number) => void noted.push(bytes, tokens),
  } as unknown as Attempt;
  const events: ChatEvent[] = [
    { type: "message-start", id: "m", model: "m" },
    { type: "block-start", index: 0, block: { type: "text" } },
    { type: "block-delta", index: 0, delta: "four words of text" },
    { type: "block-end", index: 0 },
    { type: "message-end", reason: { kind: "stop" }, usage },
  ];
  return { attempt, noted, passed: new Meter(attempt, []).passAll(events) };
}

test("the text of a whole answer is not counted where the provider has counted it", () => {
  const usage = { ...NO_USAGE, input: 3, output: 4 };
  const { attempt, noted, passed } = meterWhole(usage);
  expect(noted).toEqual([]);
  expect(attempt).toMatchObject({ usage, finish: "stop" });
  expect(passed.at(-1)).toMatchObject({ usage });
});

test("the text of a whole answer is counted where the provider has counted nothing, or a part", () => {
  for (const usage of [NO_USAGE, { ...NO_USAGE, input: 3, known: "partial" } as const]) {
    const { noted, passed } = meterWhole(usage);
    expect(noted[0]).toBe(18);
    expect(noted[1]).toBeGreaterThanOrEqual(4);
    if (usage === NO_USAGE) expect(passed.at(-1)).toMatchObject({ usage: { output: 4 } });
  }
});

test("a whole answer without its end is not complete", () => {
  const meter = new Meter({ stop: new Stop() } as unknown as Attempt, []);
  expect(() => meter.passAll([{ type: "message-start", id: "m", model: "m" }])).toThrow();
});
