/** Why a prompt was not read from a cache, as a table of two calls and a reason. */
import { describe, expect, test } from "bun:test";
import { SECTION_BYTES } from "../../../core/section-hash.ts";
import { breakOf, type Prompt, type Thread, threadAfter, threadOf } from "../prompt-breaks.ts";

const MINUTE = 60_000;

interface Sections {
  tools?: string;
  system?: string;
  messages: string;
}

/** Each letter is a section. */
function prompt({ tools = "", system = "", messages }: Sections, changes: Partial<Prompt> = {}): Prompt {
  const all = tools + system + messages;
  const hashes = new Uint8Array(all.length * SECTION_BYTES);
  for (let at = 0; at < all.length; at++)
    hashes.fill(all.charCodeAt(at), at * SECTION_BYTES, (at + 1) * SECTION_BYTES);
  const parts = [
    ["tools", tools.length] as const,
    ["system", system.length] as const,
    ["messages", messages.length] as const,
  ];
  return {
    parts: parts.filter(([, count]) => count > 0),
    head: tools.length + system.length,
    hashes,
    model: 1,
    target: 1,
    startedAt: MINUTE,
    endedAt: MINUTE + 1_000,
    input: 10,
    read: 0,
    written: 20_000,
    written1h: 0,
    ...changes,
  };
}

const BEFORE: Sections = { tools: "ab", system: "st", messages: "xyz" };
const before = (changes: Partial<Prompt> = {}) =>
  threadAfter(prompt(BEFORE, { startedAt: 0, endedAt: 1_000, written: 12_000, read: 8_000, ...changes }));

const GROWN = { ...BEFORE, messages: "xyzuv" };

const CASES: { what: string; now: Prompt; before?: Thread; is: object | undefined }[] = [
  { what: "everything was read", now: prompt(GROWN, { read: 20_000, written: 900 }), is: undefined },
  {
    what: "a few tokens less, which no provider caches",
    now: prompt(GROWN, { read: 19_200, written: 1_700 }),
    is: undefined,
  },
  {
    what: "a block of the system prompt differs",
    now: prompt({ ...GROWN, system: "sT" }, { read: 3_000 }),
    is: { reason: "changed", section: "system[1]", tokens: 17_000 },
  },
  {
    what: "a tool differs",
    now: prompt({ ...GROWN, tools: "aB" }),
    is: { reason: "changed", section: "tools[1]", tokens: 20_000 },
  },
  {
    what: "a tool was added",
    now: prompt({ ...GROWN, tools: "abc" }),
    is: { reason: "changed", section: "tools[2]" },
  },
  {
    what: "the same tools in another order",
    now: prompt({ ...GROWN, tools: "ba" }),
    is: { reason: "reordered", section: "tools" },
  },
  {
    what: "the system prompt is gone",
    now: prompt({ tools: "ab", messages: "xyzuv" }),
    is: { reason: "changed", section: "system[0]" },
  },
  {
    what: "a turn differs",
    now: prompt({ ...GROWN, messages: "xYzuv" }, { read: 8_000 }),
    is: { reason: "changed", section: "messages[1]", tokens: 12_000 },
  },
  {
    what: "the first turn differs, and there is no other reason",
    now: prompt({ ...GROWN, messages: "Xyzuv" }),
    is: { reason: "changed", section: "messages[0]" },
  },
  {
    what: "a turn differs, but too much time has passed",
    now: prompt({ ...GROWN, messages: "xYzuv" }, { startedAt: 7 * MINUTE }),
    is: { reason: "expired", afterMs: 7 * MINUTE - 1_000 },
  },
  {
    what: "too much time has passed",
    now: prompt(GROWN, { startedAt: 6 * MINUTE }),
    is: { reason: "expired" },
  },
  {
    what: "the cache keeps it for an hour",
    now: prompt(GROWN, { startedAt: 6 * MINUTE }),
    before: before({ written1h: 12_000 }),
    is: { reason: "provider" },
  },
  { what: "another deployment", now: prompt(GROWN, { target: 2 }), is: { reason: "deployment" } },
  { what: "no visible reason", now: prompt(GROWN), is: { reason: "provider" } },
  {
    what: "the prompt became shorter than what was cached",
    now: prompt({ ...BEFORE, messages: "Q" }, { read: 8_000, written: 2_000 }),
    is: { tokens: 2_010, section: "messages[0]" },
  },
  { what: "the calls ran at the same time", now: prompt(GROWN, { startedAt: 500 }), is: undefined },
  {
    what: "automatic caches report no writes",
    now: prompt(GROWN, { written: 0, input: 24_000 }),
    before: before({ written: 0, read: 16_000 }),
    is: { reason: "provider", tokens: 16_000 },
  },
];

describe("a prompt that was not read from the cache", () => {
  for (const { what, now, before: given = before(), is } of CASES)
    test(what, () => {
      const found = breakOf(given, now);
      if (is) expect(found).toMatchObject(is);
      else expect(found).toBeUndefined();
    });
});

describe("the conversation that a prompt continues", () => {
  const main = before();
  const helper = threadAfter(prompt({ tools: "ab", system: "H", messages: "pq" }));
  const find = (sections: Sections, changes: Partial<Prompt> = {}) =>
    threadOf([helper, main], prompt(sections, changes));

  test("is the one with its turns, also if something before them differs", () => {
    expect([
      find(GROWN),
      find({ ...GROWN, system: "S", tools: "x" }),
      find({ tools: "ab", system: "H", messages: "pqr" }),
    ]).toEqual([1, 1, 0]);
  });

  test("is none for a helper with the same tools, and for another model", () => {
    expect([find({ tools: "ab", system: "N", messages: "n" }), find(GROWN, { model: 2 })]).toEqual([-1, -1]);
  });

  test("is the earlier question with most of the same instructions, where each call asks one question", () => {
    const question = threadAfter(prompt({ tools: "ab", system: "st", messages: "1" }));
    const next = (system: string, messages: string) =>
      threadOf([question], prompt({ tools: "ab", system, messages }));
    expect([next("st", "2"), next("sT", "3"), next("ST", "45")]).toEqual([0, 0, -1]);
  });
});
