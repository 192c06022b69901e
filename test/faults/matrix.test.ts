/** Every fault of an upstream, in every lane, streamed and not, against the compiled binary. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { startBinary } from "./armour.ts";
import { askLane, judge, LANES } from "./lanes.ts";
import { FAULTS, type Outcome } from "./upstream/faults.ts";
import { type FaultyUpstream, startFaultyUpstream } from "./upstream/index.ts";

let upstream: FaultyUpstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = await startFaultyUpstream();
  gateway = await startBinary({
    config: {
      ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
      // A second attempt meets the same fault; it is there for kept connections that were closed in the meantime.
      retries: { attempts: 2 },
      timeouts: {
        firstByteMs: 1_500,
        gapMs: 1_500,
        totalMs: 4_000,
        holdMs: 1_000_000,
        heartbeatMs: 1_000_000,
      },
    },
  });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

const MEANS: Record<Outcome, readonly string[]> = {
  whole: ["whole"],
  error: ["error"],
  broken: ["error", "in-band"],
  // A chat answer is whole behind its finish reason; the native lane adds no terminator of its own.
  either: ["whole", "error", "in-band", "unterminated"],
};

describe.each([...FAULTS])("$name", (fault) => {
  for (const lane of LANES)
    for (const stream of [false, true])
      test.concurrent(
        `${lane.name}, ${stream ? "streamed" : "whole"}`,
        async () => {
          const wanted = stream
            ? ((lane.translated ? fault.translated : undefined) ?? fault.stream)
            : fault.json;
          const seen = await askLane(gateway.url, lane, fault.name, stream);
          expect(MEANS[wanted]).toContain(judge(seen, lane, stream));
          expect(seen.ms).toBeLessThan(12_000);
          const next = await askLane(gateway.url, lane, "fine", stream);
          expect(judge(next, lane, stream)).toBe("whole");
        },
        600_000,
      );
});

test("nothing is left open, and no credential is in the log", async () => {
  for (let tries = 0; tries < 100 && upstream.open.size > 100; tries++) await Bun.sleep(50);
  expect(upstream.open.size).toBeLessThanOrEqual(100);
  expect(gateway.log.join("\n")).not.toMatch(/canary/);
});
