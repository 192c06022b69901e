/** The replay sees: each fault that is planted in the codecs is reported over exchanges made by hand, and none without. */
import { expect, test } from "bun:test";
import { FIXTURES } from "./fixtures.ts";
import { laneOf, mutate, survivors, verdictLine } from "./mutate.ts";
import { MUTATIONS } from "./mutations.ts";
import { replayNative } from "./native.ts";
import { RESPONSES_MUTATIONS } from "./responses-mutations.ts";
import { replaySessions } from "./sessions.ts";
import { faultLines } from "./table.ts";
import { sessionFaults, translationFaults } from "./translated-table.ts";
import { replayTranslated } from "./translated.ts";

const ALL = [...MUTATIONS, ...RESPONSES_MUTATIONS];

/** Milliseconds; a free machine needs 15 seconds. */
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

test(
  "every planted fault is reported",
  async () => {
    const verdicts = await mutate(ALL, []);
    expect(survivors(verdicts).map(verdictLine)).toEqual([]);
    expect(verdicts.filter(({ clean }) => !clean).map(verdictLine)).toEqual([]);
    expect(verdicts.length).toBeGreaterThanOrEqual(30);
  },
  LIMIT,
);

test("no two planted faults have one name in one lane", () => {
  const names = ALL.map((mutation) => `${laneOf(mutation)} ${mutation.name}`);
  expect(new Set(names).size).toBe(names.length);
});
