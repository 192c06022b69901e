/** S7, change 6: a budget on models says what it would have counted, and counts what its pattern matches. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CallsSummary } from "../../../src/operator/index.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

describe.skipIf(missingChromium !== undefined)(
  `a pattern of models (${missingChromium ?? "in Chromium"})`,
  () => {
    let browser: Browser;
    let stage: Stage;
    let page: BrowserPage;

    beforeAll(async () => {
      [browser, stage] = await Promise.all([
        startBrowser(),
        startStage({
          seed: { calls: 400, days: 8 },
          config: { aliases: { "helper-*": "mock/chat" } },
        }),
      ]);
      page = await stage.open(browser, "/keys");
    });

    afterAll(async () => {
      await browser?.close();
      await stage?.end();
    });

    const choose = (text: string) =>
      page.evaluate(
        `(() => { const select = document.querySelector("dialog[open] select");
        select.selectedIndex = [...select.options].findIndex((option) => option.text === ${JSON.stringify(text)});
        select.dispatchEvent(new Event("change", { bubbles: true })); })()`,
      );

    test("S7: the dialog says how many calls of 30 days a pattern counts, by the bare name too", async () => {
      await page.click("=New budget");
      await page.fill("=Name", "claude");
      await choose("a model");
      for (const pattern of ["claude-*", "*/claude-*"]) {
        await page.fill("=Which", pattern);
        const from = Date.now() - 30 * 86_400_000;
        const { calls } = await stage.api.send<CallsSummary>(
          "GET",
          `/calls/summary?from=${from}&model=${encodeURIComponent(pattern)}`,
        );
        expect(calls).toBeGreaterThan(20);
        await page.waitForText(`counts ${calls} calls of the last 30 days`, "dialog[open]");
      }
    });

    test("S7: a pattern that matches nothing is warned of before and after the budget is made", async () => {
      await page.fill("=Which", "cluade-*");
      await page.waitForText("No call of the last 30 days matches it.", "dialog[open]");
      await page.fill("=Limit, window, mode", "$10 a day");
      await page.click("=Create");
      await page.waitForText('no model that weir knows matches "cluade-*"');
    });

    test("S7: one pattern, one meaning: the bare name, provider/model and the asked name are counted alike", async () => {
      for (const what of ["ch*", "mock/ch*", "helper-*"])
        await stage.api.send("POST", "/budgets", {
          body: { name: `counts ${what}`.replace(/[/*]/g, "."), on: { kind: "model", what }, limit: 1e12 },
        });
      expect((await stage.call("helper-1")).status).toBe(200);
      const spent = async () => {
        const { budgets } = await stage.api.send<{
          budgets: { name: string; windows: { spent: number }[] }[];
        }>("GET", "/budgets");
        return budgets
          .filter(({ name }) => name.startsWith("counts"))
          .map(({ windows }) => windows.reduce((sum, one) => sum + one.spent, 0));
      };
      let sums = await spent();
      for (let tries = 0; tries < 100 && sums.some((sum) => sum === 0); tries++) {
        await Bun.sleep(50);
        sums = await spent();
      }
      expect(new Set(sums).size).toBe(1);
      expect(sums[0]).toBeGreaterThan(0);
    });
  },
);
