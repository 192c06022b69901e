/** The page of guards: what they did, blocked calls, what was not read, and the field to try a text. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const rows = (panel: string) =>
  `[...document.querySelectorAll('[aria-label="${panel}"] tbody tr')].map((row) => row.innerText.replace(/\\s+/g, " "))`;
const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
/** Where pictures of the page go; none without. */
const SHOTS = process.env["WEIR_SHOTS"];

describe.skipIf(missingChromium !== undefined)(`guards (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let empty: Stage;
  const blockedIds: string[] = [];

  beforeAll(async () => {
    [browser, stage, empty] = await Promise.all([
      startBrowser(),
      startStage({
        workers: 2,
        config: {
          guards: {
            pii: { find: ["email", { name: "employee", pattern: "\\bE-\\d{6}\\b" }], do: "replace" },
            cards: { find: ["card"], do: "block", on: ["input"] },
            quiet: { find: ["iban"], do: "flag", keys: [] },
          },
        },
      }),
      startStage(),
    ]);
    for (const content of ["Write to anna@example.com", "hello", "4111 1111 1111 1111"])
      await stage.call("mock/chat", { content });
    const refused = await stage.call("mock/chat", { content: "again 4111 1111 1111 1111" });
    expect(refused.status).toBe(400);
    blockedIds.push(refused.id);
    const messages = [{ role: "user", content: [{ type: "text", text: "See" }, IMAGE] }];
    const response = await fetch(`${stage.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "mock/chat", messages }),
    });
    expect(response.status).toBe(200);
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([stage?.end(), empty?.end()]);
  });

  async function look(page: BrowserPage, name: string): Promise<void> {
    for (const [width, dark] of [
      [1440, false],
      [1440, true],
      [390, false],
      [390, true],
    ] as const) {
      await page.view({ width, height: 900, dark });
      await Bun.sleep(200);
      expect([name, width, await page.sideways()]).toEqual([name, width, 0]);
      expect(await page.violations()).toEqual([]);
      if (SHOTS !== undefined) {
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot(`${SHOTS}/guards-${name}-${width}${dark ? "-dark" : ""}.png`, true);
      }
    }
    await page.view({ width: 1440, height: 900 });
  }

  test("verdicts of each guard, the last blocked calls with place and kind, and what was not read", async () => {
    const page = await stage.open(browser, "/guards");
    await page.waitFor(`${rows("Blocked")}.length === 2`);
    await page.waitFor(`${rows("Not inspected")}.length === 1`);
    const [pii, cards, quiet] = await page.evaluate<string[]>(rows("Verdicts"));
    expect(pii).toMatch(/^pii replace email, employee judges 8 1 0 0$/);
    expect(cards).toMatch(/^cards block card judges 5 2 2 0$/);
    expect(quiet).toMatch(/^quiet flag iban · for some keys or models no verdict 0 0 0 0$/);
    const [blocked] = await page.evaluate<string[]>(rows("Blocked"));
    expect(blocked).toContain("cards input messages[0].content CARD");
    expect((await page.evaluate<string[]>(rows("Not inspected")))[0]).toBe("media 1 cards, pii");
    await look(page, "data");
    await page.click('[aria-label="Blocked"] tbody tr a');
    await page.waitForText("cards=blocked:1");
    expect(await page.evaluate<string>("location.pathname")).toEndWith(`/calls/${blockedIds[0]}`);
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("a text is tried as it is typed, and none of it is in the address, the log or the store", async () => {
    const page = await stage.open(browser, "/guards");
    await page.waitForText("cards");
    await page.fill('[aria-label="Text to try"]', "Ask zoe.tryout@example.com of E-123456");
    await page.waitForText(/pii finds 1 EMAIL, 1 EMPLOYEE: replace/);
    expect(await page.text('[aria-label="As it goes on"]')).toMatch(
      /^Ask PII_EMAIL_[a-z2-7]{8} of PII_EMPLOYEE_[a-z2-7]{8}$/,
    );
    await look(page, "tried");
    await page.fill('[aria-label="Text to try"]', "pay 4111111111111111");
    await page.waitForText("blocked: nothing goes on");
    expect(await page.text("main")).toContain("cards finds 1 CARD: block");
    expect(await page.evaluate<string>("location.href")).not.toContain("4111");
    expect(stage.log.join("\n")).not.toMatch(/tryout|4111111111111111/);
    expect(await Bun.$`grep -rlE "tryout|4111111111111111" ${stage.state}`.nothrow().text()).toBe("");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("without a guard the page shows how to name one", async () => {
    const page = await empty.open(browser, "/guards");
    await page.waitForText("No guard.");
    expect(await page.text("main")).toContain("pii: { find: [email, card, iban], do: replace }");
    await page.waitForText("No call was blocked in this time.");
    await page.waitForText("Guards could read everything in this time.");
    await look(page, "empty");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("while nothing answers there are bones, and a failure is said with a way out", async () => {
    const page = await stage.open(browser, "/blank");
    let answer: "never" | { status: number; body: object } | undefined = "never";
    await page.answer(({ pathname }) => (pathname === "/admin/v1/guards" ? answer : undefined));
    await page.go(`${stage.admin.url}/console/guards`);
    await page.waitFor(`document.querySelectorAll('main [aria-label="Loading"]').length === 3`);
    await look(page, "loading");
    answer = { status: 503, body: { error: { code: "store", message: "The store did not answer." } } };
    await page.go(`${stage.admin.url}/console/guards`);
    await page.waitForText("Guards could not be read.");
    await look(page, "failed");
    answer = undefined;
    await page.click('[aria-label="Verdicts"] button');
    await page.waitForText("cards");
    await page.close();
  });
});
