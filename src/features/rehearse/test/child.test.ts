/** The process that rehearses a pasted config ends in time, with its client, and without a trace. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OutlineFiles } from "../keep/files.ts";
import { type PastedRun, rehearsePasted } from "../page/child.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
const file = join(folder, "weir.yaml");
writeFileSync(file, "aliases: { fast: mock/chat }\n");
const OUTLINE = {
  ...{ v: 1, at: 1_795_950_714_503, call: "req_1", operation: "generate", format: "chat-completions" },
  ...{ model: "fast", stream: false, headers: {}, bytes: 60 },
  body: { model: "fast", messages: [{ role: "user", content: "¤2" }] },
};
new OutlineFiles(folder, () => {}).append(`${JSON.stringify(OUTLINE)}\n`, { days: 1, fileBytes: 1e9 });

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (more: Partial<PastedRun> = {}) =>
  rehearsePasted({
    ...{ text: "{}", file, plugins: undefined, state: folder, last: 10, since: undefined },
    signal: new AbortController().signal,
    ...more,
  });

test("a rehearsal that takes too long is ended", async () => {
  expect(await run({ limitMs: 1 })).toEqual({
    kind: "failed",
    why: expect.stringContaining("took too long"),
  });
});

test("a rehearsal whose client has gone is ended", async () => {
  const gone = new AbortController();
  gone.abort();
  const outcome = await run({ signal: gone.signal });
  expect(outcome.kind).toBe("failed");
});

test("a rehearsal ends with its report", async () => {
  const outcome = await run({ text: "aliases: { fast: mock/echo }\n" });
  expect(outcome).toMatchObject({ kind: "done", report: { calls: 1, changed: 1 } });
});

test("a fault of the pasted config differs from one of the config on the disk", async () => {
  expect(await run({ text: "port: many\n" })).toEqual({
    kind: "refused",
    why: expect.stringMatching(/^weir\.yaml:1: port must be/),
  });
  writeFileSync(file, "port: many\n");
  const outcome = await run();
  expect(outcome).toEqual({ kind: "failed", why: expect.stringMatching(/port must be/) });
  expect(readdirSync(folder).sort()).toEqual(["outlines", "weir.yaml"]);
});
