/** Sessions of legacy clients: how many there may be, and what each keeps. */
import { expect, test } from "bun:test";
import { Pieces } from "../../bridge/pieces.ts";
import { Session, Sessions } from "../../bridge/sessions.ts";

const CLIENT = { capabilities: {}, info: {} };
const open = (caller: string) =>
  new Session({ caller, endpoint: undefined, version: "2025-11-25", client: CLIENT });

test("a caller has a thousand sessions, and a new one ends the one that was used longest ago", () => {
  const sessions = new Sessions();
  const [first, second, ...others] = Array.from({ length: 1_000 }, () => open("alice"));
  for (const one of [first!, second!, ...others]) sessions.add(one);
  sessions.add(open("bob"));
  expect(sessions.of(first!.id, "alice", undefined)).toBe(first!);
  sessions.add(open("alice"));
  expect([sessions.size, second!.closing.signal.aborted]).toEqual([1_001, true]);
  expect(sessions.of(second!.id, "alice", undefined)).toBeUndefined();
  expect(sessions.of(first!.id, "alice", undefined)).toBe(first!);
});

test("sessions of many callers cost the same each", () => {
  const sessions = new Sessions();
  const add = (count: number) => {
    const began = performance.now();
    for (let at = 0; at < count; at++) sessions.add(open(`caller ${at % 50}`));
    return performance.now() - began;
  };
  add(2_000);
  const early = add(5_000);
  add(30_000);
  const late = add(5_000);
  expect(late, JSON.stringify({ early, late })).toBeLessThan(20 * early + 50);
});

test("a session keeps the streams that ended last", () => {
  const session = open("alice");
  const running = session.newStream();
  const streams = Array.from({ length: 500 }, () => {
    const stream = session.newStream();
    stream.send({ text: "x".repeat(1_000) });
    stream.end();
    return stream;
  });
  const isKept = (id: string) => session.resume(`${id}.0`, new Pieces());
  expect(isKept(streams.at(-1)!.id)).toBe(true);
  expect(isKept(running.id)).toBe(true);
  expect(isKept(streams[0]!.id)).toBe(false);
  expect(streams.filter(({ id }) => isKept(id)).length).toBeLessThanOrEqual(17);
});

test("a session keeps two mebibytes of streams that have ended", () => {
  const session = open("alice");
  const ids = Array.from({ length: 10 }, () => {
    const stream = session.newStream();
    stream.send({ text: "x".repeat(900_000) });
    stream.end();
    return stream.id;
  });
  session.newStream();
  expect(ids.filter((id) => session.resume(`${id}.0`, new Pieces()))).toEqual(ids.slice(-2));
});
