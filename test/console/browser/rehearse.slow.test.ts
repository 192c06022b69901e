/** The page of rehearsals: a pasted config, what it changes, and one changed call as a whole. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { until } from "../../helpers/serving.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const ROWS = `[...document.querySelectorAll('[aria-label="What changes"] tbody tr')].map((row) => row.innerText.replace(/\\s+/g, " "))`;
const CONFIG = { rehearse: { share: 1 }, aliases: { fast: "mock/chat" } };
const CALLS = 4;
/** Where pictures of the page go; none without. */
const SHOTS = process.env["WEIR_SHOTS"];

describe.skipIf(missingChromium !== undefined)(`rehearse (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ workers: 2, config: CONFIG })]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  async function look(page: BrowserPage, name: string): Promise<void> {
    for (const [width, dark] of [
      [1440, false],
      [1440, true],
      [390, false],
    ] as const) {
      await page.view({ width, height: 900, dark });
      await Bun.sleep(200);
      expect([name, width, await page.sideways()]).toEqual([name, width, 0]);
      expect(await page.violations()).toEqual([]);
      if (SHOTS !== undefined) {
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot(`${SHOTS}/rehearse-${name}-${width}${dark ? "-dark" : ""}.png`, true);
      }
    }
    await page.view({ width: 1440, height: 900 });
  }

  test("without an outline the page says how to have them", async () => {
    const page = await stage.open(browser, "/rehearse");
    await page.waitForText("No outline of a call.");
    expect(await page.text("main")).toContain("outlines: on");
    await look(page, "empty");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("a pasted config shows what it changes, by causes, with one changed call as a whole", async () => {
    for (let call = 0; call < CALLS; call++) await stage.call("fast");
    const kept = async () =>
      (await stage.api.send<{ number: number }>("GET", "/rehearsals/outlines")).number === CALLS;
    expect(await until(kept, 30_000)).toBe(true);
    const page = await stage.open(browser, "/rehearse");
    await page.waitForText(`${CALLS} outlines`);
    expect(await page.evaluate(`document.querySelector('main button[type="submit"]').disabled`)).toBe(true);
    await look(page, "form");
    await page.fill("textarea", "aliases:\n  fast: mock/echo\nrehearse: { share: 2 }\n");
    await page.click('main button[type="submit"]');
    await page.waitForText("weir.yaml:3: ");
    await look(page, "refused");
    await page.fill("textarea", "aliases:\n  fast: mock/echo\n");
    await page.click('main button[type="submit"]');
    await page.waitFor(`${ROWS}.length > 0`);
    expect(await page.text('[aria-label="Calls"]')).toMatch(/Rehearsed\s+4 calls[^]*Changed\s+4/);
    const [target, ...others] = await page.evaluate<string[]>(ROWS);
    expect(target).toBe(`target mock/mock/chat -> mock/mock/echo ${CALLS}`);
    expect(others.some((row) => row.startsWith("price "))).toBe(true);
    expect(await page.text("main")).not.toContain("One changed call");
    await page.click('[aria-label="What changes"] tbody button');
    const shown = await page.waitForText("mock/mock/echo", '[aria-label="One changed call"]');
    expect(shown).toContain("generate fast, chat-completions");
    const diff = await page.text('[aria-label="Before and after"]');
    expect(diff).toMatch(/-\s+"target: .*": "mock\/mock\/chat"/);
    expect(diff).toMatch(/\+\s+"target: .*": "mock\/mock\/echo"/);
    await look(page, "report");
    await page.fill("textarea", readFileSync(`${stage.folder}/weir.yaml`, "utf8"));
    await page.click('main button[type="submit"]');
    await page.waitFor(
      `document.querySelector('[aria-label="What changes"]')?.innerText.includes("Nothing.")`,
    );
    // The browser notes the config that was refused.
    expect(page.faults.filter((fault) => !fault.includes("status of 400"))).toEqual([]);
    await page.close();
  });

  test("while weir does not know there are bones, and a failure is said with a way out", async () => {
    const page = await stage.open(browser, "/blank");
    let answer: "never" | { status: number; body: object } | undefined = "never";
    await page.answer(({ pathname }) => (pathname === "/admin/v1/rehearsals/outlines" ? answer : undefined));
    await page.go(`${stage.admin.url}/console/rehearse`);
    await page.waitFor(`document.querySelector('main [aria-label="Loading"]')`);
    answer = { status: 503, body: { error: { code: "store", message: "The store did not answer." } } };
    await page.go(`${stage.admin.url}/console/rehearse`);
    await page.waitForText("Outlines could not be read.");
    await look(page, "failed");
    await page.close();
  });
});
