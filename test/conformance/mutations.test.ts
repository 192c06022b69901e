/** The replay sees: each fault that is planted in the codecs is reported over exchanges made by hand, and none without. */
import { expect, test } from "bun:test";
import { ALL_MUTATIONS } from "./all-mutations.ts";
import { FIXTURES } from "./fixtures.ts";
import { HOST_LANES } from "./host-lanes.ts";
import { ALL_FIXTURES, laneOf, mutate, survivors, verdictLine } from "./mutate.ts";
import { replayNative } from "./native.ts";
import { replaySessions } from "./sessions.ts";
import { faultLines } from "./table.ts";
import { sessionFaults, translationFaults } from "./translated-table.ts";
import { replayTranslated } from "./translated.ts";

/** Milliseconds; a free machine needs 30 seconds. */
const LIMIT = 300_000;

test(
  "nothing is reported of the exchanges made by hand while no fault is planted",
  async () => {
    expect(faultLines(await replayNative(FIXTURES))).toEqual([]);
    expect(translationFaults(await replayTranslated(FIXTURES))).toEqual([]);
    const sessions = await replaySessions(FIXTURES);
    expect(sessionFaults(sessions)).toEqual([]);
    expect(sessions.length).toBe(2);
  },
  LIMIT,
);

for (const lane of HOST_LANES)
  test(
    `nothing is reported while no fault is planted: ${lane.title}`,
    async () => {
      const replays = await lane.replay(ALL_FIXTURES.filter(({ api }) => api === lane.api));
      expect(
        replays.flatMap(({ recording, faults }) => faults.map((fault) => `${recording.id}: ${fault}`)),
      ).toEqual([]);
      // No exchange made by hand embeds over InvokeModel.
      if (lane.other !== "embeddings") expect(replays.length).toBeGreaterThan(0);
    },
    LIMIT,
  );

test(
  "every planted fault is reported",
  async () => {
    const verdicts = await mutate(ALL_MUTATIONS, []);
    expect(survivors(verdicts).map(verdictLine)).toEqual([]);
    expect(verdicts.filter(({ clean }) => !clean).map(verdictLine)).toEqual([]);
    expect(verdicts.length).toBeGreaterThanOrEqual(180);
  },
  LIMIT,
);

test("no two planted faults have one name in one lane", () => {
  const names = ALL_MUTATIONS.map((mutation) => `${laneOf(mutation)} ${mutation.name}`);
  expect(new Set(names).size).toBe(names.length);
});
