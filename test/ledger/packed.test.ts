/** Records in batches: what a worker writes is what the keeper reads. */
import { expect, test } from "bun:test";
import type { Usage } from "../../src/core/events.ts";
import { CHARGE_STATES, PRICE_DOUBTS, type PriceRule } from "../../src/ledger/charge.ts";
import { readEntries } from "../../src/ledger/packed.ts";
import type { AttemptRecord, CallRecord, PromptRecord } from "../../src/ledger/record.ts";
import { Entries } from "../../src/ledger/worker/entries.ts";
import { RecordWriter } from "../../src/ledger/worker/record-writer.ts";
import { callRecord } from "../helpers/telemetry.ts";

/** Writes records and prices as one batch. */
function pack(entries: readonly (CallRecord | { price: PriceRule })[], region?: Buffer): Uint8Array {
  const batch = new Entries(1, region);
  const writer = new RecordWriter((words, length) => batch.add(words, length));
  for (const entry of entries)
    if ("price" in entry) writer.json(entry);
    else writer.record(entry);
  return batch.copy();
}

/** What JSON makes of a record: members that are undefined are absent. */
function plain(record: CallRecord): CallRecord {
  return JSON.parse(JSON.stringify(record)) as CallRecord;
}

const USAGE: Required<Usage> = {
  ...{ input: 120, cacheRead: 2 ** 40, cacheWrite: 7, output: 33, reasoning: 3, cacheWrite1h: 2 },
  ...{ cacheReadAudio: 1, audioIn: 2, imageIn: 3, audioOut: 4, imageOut: 5, searches: 6 },
  ...{ units: { images: 2 }, tier: "priority", region: "eu", speed: "fast", reported: 12 },
  ...{ beside: [{ input: 1, cacheRead: 2, cacheWrite: 3, output: 4, model: "other" }], known: "partial" },
};

const PROMPT: Required<PromptRecord> = {
  parts: [
    ["tools", 0],
    ["messages", 12],
  ],
  ...{ head: 3, hashes: "AAECAwQFBgc=", saved: -4_000, dearer: { write: 12, input: 0 } },
};

const ATTEMPT: Required<AttemptRecord> = {
  ...{
    provider: "host",
    deployment: "host/eu",
    model: "modèle ☃",
    class: "no-bytes",
    ms: 12.3,
    usage: USAGE,
  },
  charge: { state: "estimated", cost: Number.MAX_SAFE_INTEGER, price: "rule", doubt: "tier" },
  ...{ held: 2 ** 33, expected: 17, missed: [{ kind: "words", factor: 1.5 }] },
  accounts: ["b:one@0", "b:two@1793491200000#00ff"],
};

/** Each member is there. A new one must be added here, and is found if the writer leaves it out. */
const WHOLE: Required<CallRecord> = {
  ...{ id: "req_AaICuNG3rVHtagD--zhi7K0a", startedAt: 1_800_000_000_000, ms: 250.1, headMs: 20, firstMs: 0 },
  ...{ ownMs: 0.4, key: "key_1", path: "/team/ü", tags: ["a", "b"], format: "f", lane: "translated" },
  ...{ model: "alias", stream: true, status: 429, outcome: "failed", refused: "budget" },
  ...{ error: { kind: "rate-limited", code: "budget_exhausted" }, finish: "stop" },
  ...{ session: "00112233445566aa", client: "SDK/1", losses: [{ code: "dropped", path: "logit_bias" }] },
  ...{ upstreamId: "req_up", unstored: { trace: { attempts: [] } }, prompt: PROMPT },
  cacheBreak: { reason: "changed", section: "system[1]", afterMs: 3, tokens: 4, cost: 5 },
  attempts: [ATTEMPT, { ...ATTEMPT, class: "answered", usage: { ...USAGE, cacheWrite1h: 0 } }],
};

test("a record with every member is read as it was written", () => {
  expect(readEntries(pack([WHOLE])).calls).toEqual([WHOLE]);
});

test("a record of few members is read as it was written", () => {
  const record = { ...callRecord(), key: undefined, path: undefined, finish: undefined, lane: undefined };
  const none = { ...record, ownMs: undefined, attempts: [] };
  const [read, other] = readEntries(pack([record, none])).calls;
  expect([read, other]).toEqual([record, none]);
  expect(plain(read!)).toEqual(plain(record));
});

test("values of columns are read as they were written, also those with other names", () => {
  const columns = {
    upstreamId: "id ☃",
    plugins: { "p.a": 1, "p.b": "x" },
    captured: true,
    number: 1.5,
    no: null,
  };
  expect(readEntries(pack([{ ...callRecord(), ...columns }])).calls).toEqual([
    { ...callRecord(), ...columns },
  ]);
});

test("prices keep their place among records", () => {
  const price = { ref: "rule", provider: "host", model: "model", source: "config" };
  const { calls, prices } = readEntries(pack([callRecord({ id: "a" }), { price }, callRecord({ id: "b" })]));
  expect([calls.map(({ id }) => id), prices]).toEqual([["a", "b"], [price]]);
});

test("records share the strings and lists that they have in common, from batch to batch", () => {
  const tags = ["a", "b"];
  const one = readEntries(pack([callRecord({ tags }), callRecord({ tags: [...tags] })])).calls;
  const other = readEntries(pack([callRecord({ model: "else" }), callRecord({ tags: [...tags] })])).calls;
  expect(one[0]!.tags === one[1]!.tags && one[0]!.tags === other[1]!.tags).toBe(true);
});

test("numbers that are no numbers are what JSON makes of them", () => {
  const record = callRecord({ ms: Infinity });
  record.attempts[0]!.held = NaN;
  expect(readEntries(pack([record])).calls).toEqual([plain(record)]);
  const fraction = callRecord({ status: 200.5, headMs: -0 });
  expect(readEntries(pack([fraction])).calls).toEqual([plain(fraction)]);
  expect(Object.is(readEntries(pack([callRecord({ headMs: -0 })])).calls[0]!.headMs, 0)).toBe(true);
});

test("texts of any length and any letters are read as they were written", () => {
  const texts = [
    "",
    "é",
    "\u0000\u00ff",
    "日本",
    "\ud800",
    "x".repeat(300),
    "☃".repeat(70_000),
    "y".repeat(9_001),
  ];
  const records = texts.flatMap((text) => [
    callRecord({ id: text, model: text }),
    callRecord({ session: text }),
  ]);
  expect(readEntries(pack(records)).calls).toEqual(records);
});

test("a batch with more names than are remembered is read as it was written, and so is the next one", () => {
  const records = Array.from({ length: 12_000 }, (_, n) =>
    callRecord({ id: `${n}`, model: `m${n}`, tags: [`t${n}`] }),
  );
  let batch = new Entries(1, undefined);
  const writer = new RecordWriter((words, length) => batch.add(words, length));
  for (let seq = 1; seq <= 2; seq++) {
    for (const record of records) writer.record(record);
    expect(readEntries(batch.copy()).calls).toEqual(records);
    batch = new Entries(seq, undefined);
    writer.begin();
  }
});

test("each batch is read without those before it", () => {
  let batch = new Entries(1, undefined);
  const writer = new RecordWriter((words, length) => batch.add(words, length));
  writer.record(WHOLE);
  batch = new Entries(2, undefined);
  writer.begin();
  writer.record(WHOLE);
  expect(readEntries(batch.copy()).calls).toEqual([WHOLE]);
});

test("damaged bytes are an error, or records of other texts, and never an endless loop", () => {
  const bytes = pack([WHOLE, callRecord(), WHOLE]);
  const random = randomFrom(7);
  let errors = 0;
  for (let round = 0; round < 2_000; round++) {
    const damaged = bytes.slice();
    for (let change = 0; change < 3; change++) damaged[random(damaged.length)] = random(256);
    try {
      readEntries(damaged);
    } catch {
      errors++;
    }
  }
  expect(errors).toBeGreaterThan(100);
  expect(() => readEntries(bytes.subarray(0, bytes.length - 8))).toThrow();
  expect(() => readEntries(new Uint8Array(16))).toThrow();
});

test("bytes at any place of memory are read", () => {
  const bytes = pack([WHOLE]);
  for (const moved of [new Uint8Array(bytes.length + 3), Buffer.alloc(bytes.length + 3)]) {
    moved.set(bytes, 3);
    expect(readEntries(moved.subarray(3)).calls).toEqual([WHOLE]);
  }
});

/** A generator of numbers below a limit. */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

test("random records are read as they were written", () => {
  const random = randomFrom(Number(process.env["SEED"] ?? 1));
  const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)]!;
  const maybe = <Value>(value: () => Value): Value | undefined => (random(2) === 0 ? undefined : value());
  const text = () =>
    String.fromCharCode(...Array.from({ length: random(20) }, () => random(pick([128, 256, 65_536]))));
  const number = () =>
    pick([
      0,
      1,
      random(1e6),
      -random(1e6),
      random(1e9) / 10,
      2 ** 31,
      -(2 ** 31),
      2 ** 53 - 1,
      1e300,
      1e-300,
    ]);
  const list = <Value>(value: () => Value) => Array.from({ length: random(4) }, value);
  const usage = (): Usage => ({
    ...{ input: number(), cacheRead: number(), cacheWrite: number(), output: number(), reasoning: number() },
    ...{ cacheWrite1h: maybe(number), tier: maybe(text), known: maybe(() => pick(["partial", "final"])) },
    ...{ audioIn: maybe(number), searches: maybe(number), units: maybe(() => ({ [text()]: number() })) },
    ...{ region: maybe(text), reported: maybe(number) },
  });
  const attempt = (): AttemptRecord => ({
    ...{ provider: text(), deployment: text(), model: text(), class: pick(["answered", "status"]) },
    ...{ ms: number(), usage: usage(), held: number(), expected: maybe(number), accounts: list(text) },
    charge: {
      ...{ state: pick(CHARGE_STATES), cost: number(), price: maybe(text) },
      doubt: maybe(() => pick(PRICE_DOUBTS)),
    },
    missed: maybe(() => list(() => ({ kind: "words" as const, factor: number() }))),
  });
  const prompt = (): PromptRecord => ({
    parts: list((): [string, number] => [text(), random(50)]),
    ...{ head: pick([random(9), 2 ** 40]), hashes: text(), saved: maybe(number) },
    dearer: maybe(() => ({ write: number(), input: number() })),
  });
  const record = (): CallRecord => ({
    ...{ id: text(), startedAt: number(), ms: number(), headMs: maybe(number), firstMs: maybe(number) },
    ...{ ownMs: maybe(number), key: maybe(text), path: maybe(text), tags: maybe(() => list(text)) },
    ...{ format: text(), lane: maybe(() => pick(["native", "translated"])), model: text() },
    ...{ stream: random(2) === 0, status: random(600), outcome: pick(["complete", "failed", "cancelled"]) },
    ...{ refused: maybe(() => pick(["rate", "budget"])), finish: maybe(text), session: maybe(text) },
    error: maybe(() => ({ kind: text(), code: maybe(text) })),
    ...{ client: maybe(text), losses: maybe(() => [{ code: "dropped" as const, path: text() }]) },
    ...{ upstreamId: maybe(text), unstored: maybe(() => ({ [text()]: text() })), prompt: maybe(prompt) },
    attempts: list(attempt),
  });
  const region = Buffer.from(new ArrayBuffer(64 * 1024));
  for (let round = 0; round < 60; round++) {
    const records = list(() => list(record)).flat();
    expect(readEntries(pack(records, pick([undefined, region]))).calls).toEqual(records.map(plain));
  }
});
