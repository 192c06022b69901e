/** Runs in the state folder of a gateway, as its operators see them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import { VERSION } from "../../../process/version.ts";
import { createTape, type Fork } from "../../../tapes/file.ts";
import { keptFile } from "../../../tapes/kept.ts";
import { type Browser, missingChromium, startBrowser } from "../../../../test/console/browser.ts";
import { type Stage, startStage } from "../../../../test/console/stage.ts";
import type { RunRow } from "../contracts.ts";

setDefaultTimeout(120_000);

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.end());

function entry(call: number, text: string, more: Partial<TapeEntry> = {}): TapeEntry {
  const message = { role: "assistant", content: text };
  return {
    ...{ call, operation: "generate", format: "chat-completions", stream: false },
    request: { model: "fake/m", lines: ["user", `  | ${call}`], options: {} },
    ...{ status: 200, headers: {} },
    answer: [
      JSON.stringify({ id: "a", choices: [{ index: 0, message, finish_reason: "stop" }], model: "m" }),
    ],
    usage: { input: 10, cacheRead: 5, cacheWrite: 0, output: 3, reasoning: 0 },
    cost: 1_000 * call,
    ...more,
  };
}

function keep(id: string, entries: readonly TapeEntry[], fork?: Fork): string {
  const path = keptFile(stage.state, id);
  mkdirSync(join(path, ".."), { recursive: true });
  const write = createTape(path, VERSION, fork);
  for (const one of entries) write(one);
  return path;
}

const list = async () => (await stage.api.send<{ runs: RunRow[] }>("GET", "/runs")).runs;

test("there are none, then a run with its forks, and what is still written is read anew", async () => {
  expect(await list()).toEqual([]);
  const path = keep("t0000001", [entry(1, "Hello"), entry(2, "First <b>run</b>")]);
  const fork = { parent: "t0000001", at: 2, model: "fake/x", tools: "readonly" };
  keep("r0000002", [entry(1, "Hello", { taped: 1 }), entry(2, "Other")], fork);
  keep("r0000003", [entry(1, "Hello", { taped: 1 })], { ...fork, parent: "r0000002" });
  const runs = await list();
  expect(runs.map(({ run, last }) => [run, last])).toEqual([
    ["t0000001", "First <b>run</b>"],
    ["r0000002", "Other"],
    ["r0000003", "Hello"],
  ]);
  expect(runs[1]).toMatchObject({
    fork,
    all: { calls: 2, input: 30, output: 6, cost: 3_000, unknown: 0, failed: 0 },
    own: { calls: 1, input: 15, output: 3, cost: 2_000 },
  });
  appendFileSync(path, `${JSON.stringify(entry(3, "Last"))}\n`);
  expect((await list())[0]).toMatchObject({ last: "Last", all: { calls: 3 } });
});

describe.skipIf(missingChromium !== undefined)(`Chromium (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test("the page shows forks beside their run, with what each cost", async () => {
    keep("t0000004", [entry(1, "Hello <img src=x>")]);
    const page = await stage.open(browser, "/runs");
    await page.waitFor("document.querySelector('tbody')");
    const rows = await page.evaluate<string[][]>(
      `[...document.querySelectorAll('[aria-label="Runs"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim().replace("\\n.", ".")))`,
    );
    const forked = rows.find(([run]) => run === "r0000002")!;
    expect(forked.slice(1, 5)).toEqual(["t0000001 at 2 with fake/x", "readonly", "2", "0"]);
    expect(forked.slice(7, 10)).toEqual(["$0.000003000", "$0.000002000", "Other"]);
    expect(rows.map((row) => row[9])).toContain("Hello <img src=x>");
    expect(page.faults).toEqual([]);
  });
});
