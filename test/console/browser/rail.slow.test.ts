/** The navigation of tablets: icons in a rail. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

describe.skipIf(missingChromium !== undefined)(`the rail (${missingChromium ?? "in a browser"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage()]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  test("Polish, rail: at 1024 pixels each link has a name, which is seen when it has the focus", async () => {
    const page = await stage.open(browser, "/", { width: 1024, height: 900 });
    await page.waitFor("document.querySelector('.side .proof')");
    const links = await page.evaluate<{ name: string; width: number }[]>(`
      [...document.querySelectorAll('.side a, .side button')].filter((one) => one.checkVisibility()).map((one) =>
        ({ name: (one.ariaLabel ?? one.innerText).trim(), width: one.getBoundingClientRect().width }))`);
    expect(links.length).toBeGreaterThan(12);
    for (const { name, width } of links) {
      expect(name).not.toBe("");
      expect(width).toBeLessThanOrEqual(52);
    }
    const spoken = await page.spoken();
    if (spoken)
      for (const name of ["Now", "Calls", "Spend", "Keys & budgets", "Providers", "Config"])
        expect(spoken.some((one) => one.role === "link" && one.name.startsWith(name))).toBe(true);
    await page.evaluate("document.querySelector('.nav a[title=Providers]').focus()");
    await page.press("Shift+Tab");
    await page.press("Tab");
    const seen = `(() => {
      const box = document.querySelector('.nav a[title=Providers] span').getBoundingClientRect();
      return box.width > 40 && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.innerText === 'Providers';
    })()`;
    await page.waitFor(seen);
    expect(await page.sideways()).toBe(0);
    await page.close();
  });
});
