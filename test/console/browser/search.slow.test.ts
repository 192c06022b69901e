/** Searching and ordering calls in the browser: what the filter box reads, suggestions with counts, orders, ranges of time. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const ROW = "main tr[data-id]";

describe.skipIf(missingChromium !== undefined)(`searches (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ seed: { calls: 900, days: 6 } })]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  const open = (path: string): Promise<BrowserPage> => stage.open(browser, path, { width: 1440 });
  const cells = (page: BrowserPage, look: string) =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll("${ROW} ${look}")].map((cell) => cell.innerText.trim())`,
    );

  test("S1: while another query is read, rows and sums of the one before are not shown", async () => {
    const page = await open("/calls?range=7d");
    await page.waitFor(`document.querySelector("${ROW}")`);
    let isHeld = false;
    await page.answer(({ pathname, search }) => {
      if (!pathname.startsWith("/admin/v1/calls") || !search.includes("failed")) return undefined;
      isHeld = true;
      return "never";
    });
    await page.press("/");
    await page.type("outcome:failed");
    await page.press("Enter");
    await page.waitFor(`!document.querySelector("${ROW}") && document.querySelector(".bones")`);
    expect(isHeld).toBe(true);
    expect(await page.text("section[aria-label=Calls] header")).not.toMatch(/\d+ calls/);
    await page.close();
  });

  test("S2, S14: quotes, several statuses, an opposite and an amount are read from one line", async () => {
    const page = await open("/calls?range=7d");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.press("/");
    await page.type('status:4xx|5xx -model:"claude*" cost:<1');
    await page.press("Enter");
    await page.waitFor("location.search.includes('-model')");
    await page.waitForText("not model claude*", ".filter .box");
    await page.waitFor(
      `[...document.querySelectorAll("${ROW} .p-status")].every((cell) => cell.innerText.trim() !== "200")`,
    );
    const models = await cells(page, ".p-model");
    expect([models.length > 0, models.join(" ").includes("claude")]).toEqual([true, false]);
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("S14: suggestions say how many calls of the range they find", async () => {
    const page = await open("/calls?range=7d");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.press("/");
    await page.type("outcome:complete key:ci");
    await page.waitForText(/key:ci-bot \d+ calls/, "#suggestions");
    await page.press("ArrowDown");
    await page.press("Enter");
    await page.waitFor(
      "location.search.includes('key=ci-bot') && location.search.includes('outcome=complete')",
    );
    await page.close();
  });

  test("S14: a head orders the calls of the range, says so, and lets go", async () => {
    const page = await open("/calls?range=7d");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.evaluate(
      "[...document.querySelectorAll('th .sort')].find((one) => one.innerText === 'Took').click()",
    );
    await page.waitFor("location.search.includes('sort=took')");
    await page.waitFor("document.querySelector('th[aria-sort=descending]')?.innerText.includes('Took')");
    const { calls } = await stage.api.send<{ calls: { id: string; ms: number }[] }>("GET", "/calls", {
      query: { limit: 500, from: Date.now() - 7 * 86_400_000 },
    });
    const longest = calls.toSorted((a, b) => b.ms - a.ms)[0]!;
    await page.waitFor(`document.querySelector("${ROW}")?.dataset.id`);
    const all = await stage.api.send<{ calls: { id: string; ms: number }[] }>("GET", "/calls", {
      query: { limit: 3, sort: "took", from: Date.now() - 7 * 86_400_000 },
    });
    expect(all.calls[0]!.ms).toBeGreaterThanOrEqual(longest.ms);
    await page.waitFor(
      `document.querySelector("${ROW}")?.dataset.id === ${JSON.stringify(all.calls[0]!.id)}`,
    );
    await page.click("th[aria-sort=descending] .sort");
    await page.waitFor("!location.search.includes('sort')");
    await page.close();
  });

  test("S14: heads order Spend and Keys, and heads of a table the cards of Providers", async () => {
    const page = await open("/spend?range=7d&by=key&rank=calls");
    await page.waitFor("document.querySelector('th[aria-sort=descending]')?.innerText.includes('Calls')");
    const calls =
      "[...document.querySelectorAll('table.spend tbody tr')].map((row) => Number(row.cells[5].innerText.replaceAll(',', '')))";
    await page.waitFor(`(${calls}).length > 3`);
    const counts = await page.evaluate<number[]>(calls);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    await page.go(`${stage.admin.url}/console/keys?sort=spent`);
    await page.waitFor(
      "document.querySelector('th[aria-sort=descending]') && !document.querySelector('tr.path')",
    );
    await page.go(`${stage.admin.url}/console/providers?range=7d`);
    await page.waitFor("document.querySelector('.compare .sort')");
    await page.evaluate("document.querySelector('.compare .sort').click()");
    await page.waitFor("location.search.includes('sort=p95')");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("S12: a range with two ends is chosen by time, in local time or UTC, and the menu keeps it with filters", async () => {
    const page = await open("/calls?key=ci-bot");
    await page.click("=From…");
    await page.waitForText("Last month", "dialog[open]");
    await page.click("=UTC");
    const fill = (at: number, text: string) =>
      page.evaluate(`(() => {
        const input = document.querySelectorAll("dialog[open] input")[${at}];
        input.value = ${JSON.stringify(text)};
        input.dispatchEvent(new Event("input", { bubbles: true }));
      })()`);
    await fill(0, "2026-11-02 08:30");
    await fill(1, "2026-11-01");
    await page.waitFor("document.querySelector('dialog[open] [type=submit]').disabled");
    await fill(1, "2026-11-03");
    await page.waitFor("!document.querySelector('dialog[open] [type=submit]').disabled");
    await page.click("=Show");
    const [from, to] = [Date.UTC(2026, 10, 2, 8, 30), Date.UTC(2026, 10, 3)];
    await page.waitFor(`location.search.includes("from=${from}&to=${to}")`);
    await page.click(".side a[title=Spend]");
    await page.waitFor(
      `location.pathname === "/console/spend" && location.search.includes("from=${from}&to=${to}") && location.search.includes("key=ci-bot")`,
    );
    await page.click(".side a[title='Keys & budgets']");
    await page.waitFor("location.pathname === '/console/keys' && location.search === ''");
    await page.go(`${stage.admin.url}/console/calls`);
    await page.click("=From…");
    await page.click("=Yesterday");
    await page.waitFor("location.search.includes('from=') && location.search.includes('to=')");
    expect(page.faults).toEqual([]);
    await page.close();
  });
});
