/** The file of captured calls: what it keeps, and for how long. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Captured } from "../captured.ts";
import { Captures } from "../captures.ts";

const GB = 1024 ** 3;
const PAGE = 4096;
let folder: string;
let now = 1_000;
let told: string[] = [];
let captures: Captures;

const open = () => new Captures({ folder, report: (sentence) => told.push(sentence), now: () => now });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-captures-"));
  now = 1_000;
  told = [];
  captures = open();
});
afterEach(() => {
  captures.close();
  rmSync(folder, { recursive: true, force: true });
});

function call(id: string, more: Partial<Captured> = {}): Captured {
  return {
    ...{ id, at: now, expiresAt: now + 100, operation: "generate", format: "messages" },
    ...{ request: '{"model":"m"}', answer: "{}", status: 200, headers: {} },
    ...more,
  };
}

const put = (...captured: Captured[]) => captures.put({ captured, fileBytes: GB });

test("there is no file before the first captured call, and only its owner can read it", () => {
  expect(captures.get("req_1")).toBeUndefined();
  expect(existsSync(join(folder, "capture.db"))).toBe(false);
  put(call("req_1"));
  expect(statSync(join(folder, "capture.db")).mode & 0o777).toBe(0o600);
});

test("a call is as it was captured, also after a restart", () => {
  const whole = call("req_1", { cut: ["answer"], error: "The provider failed.", status: 502 });
  put(whole);
  captures.close();
  captures = open();
  expect(captures.get("req_1")).toEqual(whole);
  expect(captures.get("req_2")).toBeUndefined();
});

test("a damaged page is told with its file, and the keeper stays free for stored answers", () => {
  const path = join(folder, "capture.db");
  put(...Array.from({ length: 40 }, (_, index) => call(`req_${index}`, { answer: crypto.randomUUID() })));
  captures.close();
  const whole = readFileSync(path);
  for (let at = PAGE; at < whole.length; at += PAGE) {
    // 0xff is no kind of page.
    writeFileSync(path, Buffer.from(whole).fill(0xff, at, at + PAGE));
    told = [];
    captures = open();
    const started = performance.now();
    for (let batch = 0; batch < 3; batch++) put(call(`req_new_${batch}`));
    // A file that a failed opening left locked takes three seconds for each further one.
    expect(performance.now() - started).toBeLessThan(2_500);
    for (const sentence of told)
      expect(sentence).toBe(
        `captured calls are lost: ${path} is damaged; move it away, or restore it from a backup`,
      );
    captures.close();
    // With the file moved away, calls are captured again.
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    captures = open();
    put(call("req_again"));
    expect(captures.get("req_again")).toBeDefined();
    captures.close();
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
  }
  captures = open();
});

test("an expired call is gone at once, and its content leaves the file", () => {
  put(call("req_1", { request: crypto.randomUUID().repeat(50) }));
  now += 100;
  expect(captures.get("req_1")).toBeUndefined();
  put(call("req_2"));
  now += 99;
  expect(captures.get("req_2")).toBeDefined();
  expect(captures.deleteAll()).toBe(1);
});

test("beyond the maximum size the oldest calls are deleted", () => {
  const long = () => Buffer.from(crypto.getRandomValues(new Uint8Array(2_000))).toString("base64");
  for (let n = 0; n < 200; n++) {
    now++;
    captures.put({ captured: [call(`req_${n}`, { answer: long(), expiresAt: 1e9 })], fileBytes: 300_000 });
  }
  expect(captures.get("req_0")).toBeUndefined();
  expect(captures.get("req_199")).toBeDefined();
  const kept = Array.from({ length: 200 }, (_, n) => captures.get(`req_${n}`)).filter(Boolean).length;
  expect(kept).toBeGreaterThan(60);
  expect(kept).toBeLessThan(160);
});

test("deleted content is not in the files of the database", () => {
  const secret = "the-canary-of-this-test";
  put(call("req_1", { headers: { canary: secret }, request: secret.repeat(3) }));
  captures.deleteAll();
  captures.close();
  for (const name of ["capture.db", "capture.db-wal"])
    if (existsSync(join(folder, name)))
      expect(readFileSync(join(folder, name), "latin1")).not.toContain("canary");
});

test("a file that cannot be used is a sentence, once, and calls go on", () => {
  writeFileSync(join(folder, "capture.db"), "not a database, and long enough for its header".repeat(50));
  put(call("req_1"));
  put(call("req_2"));
  expect(told).toEqual([expect.stringContaining("captured calls are lost: ")]);
  expect(told[0]).toContain("capture.db is damaged");
  expect(() => captures.get("req_1")).toThrow("is damaged");
});
