/** What holds for every page, with data: names for those who do not see it, and no sideways scroll at any width. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const WIDTHS = [320, 360, 414, 600, 820, 1180, 1366, 2000, 2560];
/** Roles that a person can act on, or that stand for something. */
const ROLES = new Set(
  "button link textbox searchbox combobox listbox checkbox radio switch tab menuitem slider spinbutton image img dialog".split(
    " ",
  ),
);

describe.skipIf(missingChromium !== undefined)(`every page (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let page: BrowserPage;
  let paths: string[];

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ seed: { calls: 400, days: 6 } })]);
    page = await stage.open(browser, "/");
    await page.waitForText("Just ended");
    paths = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".nav a")].map((link) => link.pathname)`,
    );
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  async function visit(path: string): Promise<void> {
    await page.go(new URL(path, stage.admin.url).href);
    await page.waitFor(`document.querySelector("main h1, .top h1, h1")`);
    await Bun.sleep(700);
  }

  test("has a name for all that a person can act on", async () => {
    expect(paths.length).toBeGreaterThan(9);
    const nameless: string[] = [];
    let seen = 0;
    for (const path of paths) {
      await visit(path);
      const spoken = await page.spoken();
      if (!spoken) return;
      for (const { role, name } of spoken) {
        if (!ROLES.has(role)) continue;
        seen++;
        if (name === "") nameless.push(`${path}: ${role}`);
      }
    }
    expect(nameless).toEqual([]);
    expect(seen).toBeGreaterThan(300);
  });

  test("scrolls sideways at no width from 320 to 2560 pixels", async () => {
    const wide: string[] = [];
    for (const path of paths) {
      await visit(path);
      for (const width of WIDTHS) {
        await page.view({ width, height: 900 });
        await Bun.sleep(60);
        const over = await page.sideways();
        if (over > 0) wide.push(`${path} at ${width}: ${over}`);
      }
    }
    expect(wide).toEqual([]);
  });
});
