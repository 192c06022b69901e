import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { haveCaptures } from "../../../../../test/helpers/captures.ts";
import { haveRecordings, NO_RECORDINGS } from "../../../../../test/helpers/recordings.ts";
import { IS_LONG } from "../../../../../test/helpers/effort.ts";
import { baseSetup } from "./base.ts";
import { CHANGES } from "./changes.ts";
import { unfaithful } from "./fidelity.ts";
import { judge } from "./judge.ts";
import { Trial } from "./trial.ts";
import { countsOf } from "./truth.ts";

/** Changes of each kind, each with how the rehearsal has to know of it. */
const NAMES = [
  'providers.acme.headers: {"x-team":"ops"}',
  "providers.acme.traits: {}",
  'providers.openai.apiKey: "sk-truth-other-0000000000"',
  'aliases.fast: "cerebras/gpt-oss-120b"',
  'models.gpt-4*: {"force":{"temperature":0.3}}',
  'key short: {"maxTokens":500}',
  'responses.store: "off"',
  "limits.bodyBytes: 16000",
  'prices.anthropic/*: {"discount":0.12}',
  "plugin: adds a system line",
  "plugin: adds a line for one caller",
  "plugin: refuses one caller",
  "chat: descriptions of tools are lost",
] as const;

/** They read texts. */
const READERS = ["plugin: trims texts", "plugin: is cold where a text has a word"] as const;

const CALLS = IS_LONG ? 1_000 : 100;
/** The others take a gateway each. */
const TRIED = IS_LONG ? NAMES : NAMES.filter((_, at) => at % 2 === 0);
/** All calls of a gateway, and a process with a fault. */
const PATIENCE_MS = 600_000;

function changeNamed(name: string) {
  const change = CHANGES.find((one) => one.name === name);
  if (!change) throw new Error(`there is no change "${name}"`);
  return change;
}

if (!haveRecordings || !haveCaptures) test.skip(NO_RECORDINGS, () => {});
else
  describe("a rehearsal of recorded calls", () => {
    let trial: Trial;
    beforeAll(async () => void (trial = await Trial.start(CALLS, 1, true)), PATIENCE_MS);
    afterAll(() => trial.stop());

    test("has an outline of almost all", () => {
      expect(trial.outlined).toBeGreaterThan(CALLS * 0.97);
    });

    test("finds without a change what the gateway did", () => {
      const wrong = [...trial.facts].filter(([index, facts]) => {
        const found = unfaithful(facts, trial.before(index));
        return ["refusal", "body", "headers"].some((name) => found.has(name as "body"));
      });
      expect(wrong.length).toBeLessThanOrEqual(CALLS * 0.01);
    });

    test.each(TRIED)(
      "finds each call that is altered: %s",
      async (name) => {
        const { truth, rehearsed } = await trial.of(changeNamed(name));
        const { altered, missed, tape, calls } = judge(truth, rehearsed!.of);
        expect(altered, JSON.stringify(countsOf(truth))).toBeGreaterThan(0);
        expect(missed).toEqual([]);
        expect(tape).toBeLessThanOrEqual(calls * 0.05);
      },
      PATIENCE_MS,
    );

    test.each(READERS)(
      "says that a text decides: %s",
      async (name) => {
        const { truth, rehearsed } = await trial.of(changeNamed(name));
        const { missed, tapeAltered } = judge(truth, rehearsed!.of);
        expect(missed).toEqual([]);
        expect(tapeAltered).toBeGreaterThan(0);
      },
      PATIENCE_MS,
    );

    test(
      "finds nothing where nothing is changed, here and in another build",
      async () => {
        expect(baseSetup("http://127.0.0.1:1", "").plugins).toEqual({});
        for (const elsewhere of [false, true]) expect(await trial.same(elsewhere)).toEqual([]);
      },
      PATIENCE_MS,
    );
  });
