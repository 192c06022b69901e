/** Whether the helpers of the browser tests see what they are there to see. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

describe.skipIf(missingChromium !== undefined)(`Chromium (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ seed: { calls: 300, days: 3 } })]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  test("a seeded store opens in the console, and its books balance", async () => {
    const page = await stage.open(browser, "/calls?range=7d");
    await page.waitForText("claude-sonnet-4-6");
    expect([...page.hosts]).toEqual([new URL(stage.admin.url).host]);
    const { holds } = await stage.api.send<{ holds: boolean }>("GET", "/audit/books");
    expect(holds).toBe(true);
    await page.close();
  });

  test("a script that the policy forbids, and a request to another host, are seen", async () => {
    const page = await stage.open(browser, "/");
    await page.evaluate(`(() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = 1";
      document.body.append(script);
      return fetch("http://127.0.0.1:1/").catch(() => {});
    })()`);
    await page.waitFor("!window.ran");
    expect(page.faults.join("\n")).toContain("Content Security Policy");
    await page.close();
  });
});
