import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "bun:test";
import { haveCaptures } from "../../../../../test/helpers/captures.ts";
import { haveRecordings, NO_RECORDINGS } from "../../../../../test/helpers/recordings.ts";
import { baseSetup } from "./base.ts";
import { CHANGES, someChanges } from "./changes.ts";
import { corpus } from "./corpus.ts";
import { judge, sumOf } from "./judge.ts";
import type { Seen } from "./observe.ts";
import type { Said } from "./rehearsed.ts";
import { type Cause, differences } from "./truth.ts";

const SOURCE = resolve(import.meta.dir, "../../../..");

describe("changes", () => {
  test("there are at least 200, each with a name of its own", () => {
    expect(CHANGES.length).toBeGreaterThanOrEqual(200);
    expect(new Set(CHANGES.map(({ kind, name }) => `${kind} ${name}`)).size).toBe(CHANGES.length);
  });

  test("a seed chooses some of all kinds, the same each time", () => {
    const some = someChanges(60, 7);
    expect(some).toEqual(someChanges(60, 7));
    expect(some).not.toEqual(someChanges(60, 8));
    expect(new Set(some.map(({ kind }) => kind)).size).toBe(4);
  });

  test("the source has once what each fault replaces", () => {
    const faults = CHANGES.flatMap((change) => (change.kind === "fault" ? [change] : []));
    const wrong = faults.filter(
      ({ file, from }) => readFileSync(join(SOURCE, file), "utf8").split(from).length !== 2,
    );
    expect(wrong).toEqual([]);
  });

  test("each other change alters the setup, unless it says what is there already", () => {
    const base = baseSetup("http://127.0.0.1:1", "");
    const same = CHANGES.flatMap((change) => {
      if (change.kind === "fault") return [];
      const setup = structuredClone(base);
      change.apply(setup, "http://127.0.0.1:1");
      return Bun.deepEquals(setup, base) ? [change.name] : [];
    });
    expect(same).toEqual(['log.format: "json"']);
  });
});

if (!haveRecordings || !haveCaptures) test.skip(NO_RECORDINGS, () => {});
else
  describe("the corpus", () => {
    test("has at least 5,000 calls of all clients, no two alike, the same for the same seed", () => {
      const calls = corpus(Number.POSITIVE_INFINITY);
      expect(calls.length).toBeGreaterThanOrEqual(5_000);
      expect(new Set(calls.map(({ path, body }) => `${path}\n${body}`)).size).toBe(calls.length);
      expect(calls.map(({ index }) => index)).toEqual(calls.map((_, index) => index));
      const clients = new Set(calls.map(({ path }) => path.replace(/\/models\/.*:/, ":").split("?")[0]!));
      expect([...clients].sort()).toEqual([
        "/api/chat",
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/messages",
        "/v1/responses",
        "/v1beta:generateContent",
        "/v1beta:streamGenerateContent",
      ]);
      expect(corpus(50)).toEqual(calls.slice(0, 50));
      expect(corpus(50, 2)).not.toEqual(calls.slice(0, 50));
    });
  });

const seen = (parts: Partial<Seen> = {}): Seen => ({
  id: "req_1",
  sent: [{ url: "host/v1", headers: ["a: 1", "b: 2"], body: "{}" }],
  target: "acme/large native",
  status: 200,
  refusal: "",
  losses: "",
  price: "100 0",
  ...parts,
});

const sent = (parts: Partial<Seen["sent"][number]>) => ({ sent: [{ ...seen().sent[0]!, ...parts }] });

describe("the truth of a call", () => {
  test.each([
    ["nothing", {}, []],
    ["the order of headers", sent({ headers: ["b: 2", "a: 1"] }), []],
    ["the lane", { target: "acme/large translated" }, []],
    ["one request as two", { sent: [...seen().sent, ...seen().sent] }, ["body"]],
    ["a header", sent({ headers: ["a: 1", "b: 3"] }), ["header"]],
    ["a byte", sent({ body: "{ }" }), ["body"]],
    ["the address", sent({ url: "host/v2" }), ["target"]],
    ["the model", { target: "acme/small native" }, ["target"]],
    ["the price", { price: "101 0" }, ["price"]],
    ["a loss", { losses: "dropped:stop" }, ["loss"]],
    ["a refusal", { sent: [], refusal: "permission x no", price: "0 5" }, ["refused"]],
    ["an answer of weir itself", { sent: [], target: "plugin/x" }, ["target"]],
  ] as [string, Partial<Seen>, Cause[]][])("differs by %s", (_name, parts, causes) => {
    expect([...differences(seen(), seen(parts))]).toEqual(causes);
  });
});

describe("the judge", () => {
  const truth = (["body", undefined, "header", "target", "price", "refused", "loss"] as const).map(
    (cause) => new Set<Cause>(cause === undefined ? [] : [cause]),
  );
  const said: Said[] = [
    new Set<Cause>(["body"]),
    new Set<Cause>(["price"]),
    new Set<Cause>(["loss"]),
    new Set<Cause>(["body"]),
    "needs its tape",
    "no outline",
    new Set<Cause>(),
  ];
  const judged = judge(truth, (index) => said[index]!);

  test("counts what is found, missed and alarmed", () => {
    expect(judged).toMatchObject({ calls: 6, altered: 3, found: 2, tape: 1, tapeAltered: 1, without: 1 });
    expect(judged.missed.map(({ index }) => index)).toEqual([2]);
    expect(judged.alarms.map(({ index }) => index)).toEqual([1]);
    expect(judged.otherwise.map(({ index }) => index)).toEqual([3]);
  });

  test("adds up changes", () => {
    const sum = sumOf([judged, judged]);
    expect(sum).toMatchObject({ calls: 12, altered: 6, found: 4 });
    expect(sum.missed).toHaveLength(2);
  });
});
