/** Calls that a budget or a rate limit refused, as the console says it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const ROW = "main tr[data-id]";

describe.skipIf(missingChromium !== undefined)(`refusals (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({ config: { rates: { burst: { on: { model: "mock/echo" }, rpm: 1 } } } }),
    ]);
    await stage.api.send("POST", "/budgets", {
      body: {
        ...{ name: "tiny", on: { kind: "model", what: "mock/chat" }, limit: 2_500_000, window: "day" },
        mode: "hard",
      },
    });
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  test("S5: a refused call names its budget, what it needs and what is left; Raise opens the dialog", async () => {
    const { id, status } = await stage.call("mock/chat");
    expect(status).toBe(429);
    const page = await stage.open(browser, "/");
    await page.waitFor(`document.querySelector('tr[data-id="${id}"]')`);
    await page.click(`tr[data-id="${id}"]`);
    await page.waitForText(
      /^Refused by the budget tiny: this call may cost \$[\d.]+, \$[\d.]+ of \$[\d.]+ is left until .* UTC\./,
      ".say",
    );
    await page.click("=Raise");
    await page.waitForText("tiny", "dialog[open]");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("S5: two clicks show who else was refused by the same budget, and no other refusal", async () => {
    const mine = await stage.call("mock/chat");
    await stage.call("mock/echo");
    expect((await stage.call("mock/echo")).status).toBe(429);
    const page = await stage.open(browser, `/calls/${mine.id}`);
    await page.waitForText("Not kept.");
    await page.evaluate(`document.querySelector('.say a[href*="rule"]').click()`);
    await page.waitFor(`document.querySelector('tr[data-id="${mine.id}"]')`);
    const words = await page.evaluate<string[]>(
      `[...document.querySelectorAll("${ROW} .p-model")].map(({ innerText }) => innerText)`,
    );
    expect(words.length).toBeGreaterThanOrEqual(1);
    expect(words.every((word) => word.includes("mock/chat"))).toBe(true);
    await page.close();
  });

  test("S5: a rate limit is named with its unit and the time of room", async () => {
    await stage.call("mock/echo");
    const { id, status } = await stage.call("mock/echo");
    expect(status).toBe(429);
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText(
      /^Refused by the rate limit burst: .*0 of 1 calls a minute is left until \d/,
      ".say",
    );
    await page.close();
  });

  test("M10: links of the palette and of notes open the dialogs for budgets", async () => {
    const page = await stage.open(browser, "/keys?new=budget");
    await page.waitForText("New budget", "dialog[open]");
    const { budgets } = await stage.api.send<{ budgets: { id: string }[] }>("GET", "/budgets");
    await page.go(`${stage.admin.url}/console/keys?raise=${budgets[0]!.id}`);
    await page.waitForText("tiny", "dialog[open]");
    await page.press("Escape");
    // From the palette, also where the page is open already.
    await page.waitFor(`!document.querySelector("dialog[open]")`);
    await page.press("Control+k");
    await page.type("New budget");
    await page.press("Enter");
    await page.waitForText("New budget", "dialog[open] h2");
    await page.press("Escape");
    await page.waitFor(`!document.querySelector("dialog[open]")`);
    await page.press("Control+k");
    await page.type("tiny");
    await page.waitForText("tiny", "#hits");
    await page.press("Enter");
    await page.waitFor(`document.activeElement?.id === "budget-${budgets[0]!.id}"`);
    await page.press("Control+k");
    await page.type("Sign out");
    await page.press("Enter");
    await page.waitForText("Key or sign-in link", "dialog[open]");
    await page.close();
  });
});
