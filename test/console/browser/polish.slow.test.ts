/** Finish of the console: links, phones, paper, heads of tables, and amounts within their panels. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CallEntry, Calls } from "../../../src/operator/index.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const PHONE = { width: 390, height: 844 };
const PATHS = [
  ...[
    "/",
    "/calls",
    "/spend",
    "/keys",
    "/providers",
    "/playground",
    "/cache",
    "/prices",
    "/config",
    "/store",
  ],
  ...["/alerts", "/sessions", "/tools"],
];

describe.skipIf(missingChromium !== undefined)(`finish (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        seed: { calls: 300, days: 3 },
        config: { capture: { share: 1 } },
      }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  test("polish: what runs beyond ten calls is one click away", async () => {
    const page = await stage.open(browser, "/");
    const many = Array.from({ length: 14 }, () => stage.call("mock/slow-start-8000"));
    await page.waitForText("and 4 calls more", ".more");
    await page.click("=and 4 calls more");
    await page.waitFor(`document.querySelectorAll('[aria-label="Running"] tbody tr').length === 14`);
    expect(page.faults).toEqual([]);
    await page.close();
    await Promise.allSettled(many);
  });

  test("polish: a refused call without a model has words in its first line on a phone", async () => {
    await stage.call("mock/chat", { key: "weir_sk_wrong" });
    const { calls } = await stage.api.send<Calls>("GET", "/calls?limit=5");
    const page = await stage.open(browser, "/blank", PHONE);
    const [first] = calls as readonly CallEntry[];
    await page.answer(({ pathname }) =>
      pathname === "/admin/v1/calls"
        ? {
            status: 200,
            body: { calls: [{ ...first!, model: "", attempts: [], status: 401, outcome: "failed" }] },
          }
        : undefined,
    );
    await page.go(`${stage.admin.url}/console/calls`);
    await page.waitFor(`document.querySelector("main tr[data-id]")`);
    expect(await page.text("main tr[data-id] .p-model")).toBe("no model");
    expect(await page.sideways()).toBe(0);
    await page.close();
  });

  test("polish: the tabs of bodies are as wide as their words", async () => {
    const { id } = await stage.call("mock/chat");
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText("Show them");
    await page.click("=Show them");
    await page.waitFor(`document.querySelector('[aria-label="Which body"]')`);
    const wide = await page.evaluate<number[]>(
      `[...document.querySelectorAll('[aria-label="Which body"] button')].map(({ offsetWidth }) => offsetWidth)`,
    );
    expect(wide.length).toBeGreaterThan(1);
    expect(Math.max(...wide)).toBeLessThan(200);
    await page.close();
  });

  test("polish: no page has an empty head of a table", async () => {
    const page = await stage.open(browser, "/");
    for (const path of PATHS) {
      await page.go(`${stage.admin.url}/console${path}`);
      await page.waitFor(`document.querySelector("main .panel, main .empty, main form")`);
      await Bun.sleep(400);
      const heads = (await page.violations(true)).filter(({ id }) => id === "empty-table-header");
      expect([path, heads]).toEqual([path, []]);
    }
    await page.close();
  });

  test("polish: the smallest amount stays within its cell", async () => {
    const { calls } = await stage.api.send<Calls>("GET", "/calls?limit=5&outcome=complete");
    const page = await stage.open(browser, "/blank");
    const tiny = (calls as readonly CallEntry[]).map((call) => ({
      ...call,
      attempts: call.attempts.map((one) => ({ ...one, charge: { state: "metered", cost: 1_060 } })),
    }));
    await page.answer(({ pathname }) =>
      pathname === "/admin/v1/calls" ? { status: 200, body: { calls: tiny } } : undefined,
    );
    await page.go(`${stage.admin.url}/console/calls`);
    await page.waitForText(".000001060");
    const over = await page.evaluate<number[]>(
      `[...document.querySelectorAll("main td.p-cost")].map((cell) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getBoundingClientRect().right + parseFloat(getComputedStyle(cell).paddingRight) - cell.getBoundingClientRect().right; })`,
    );
    expect(Math.max(...over)).toBeLessThan(1);
    await page.close();
  });

  test("polish: a provider that is not set up names all variables that it needs", async () => {
    const page = await stage.open(browser, "/providers");
    const text = (await page.waitForText("Not set up")) && (await page.text(".without-key"));
    expect(text).toContain("AWS_REGION, AWS_BEARER_TOKEN_BEDROCK");
    expect(text).toContain("AZURE_BASE_URL or AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY");
    for (const width of [320, 390, 1440]) {
      await page.view({ width, height: 900 });
      expect([width, await page.sideways()]).toEqual([width, 0]);
      const cut = await page.evaluate<number>(
        `[...document.querySelectorAll(".without-key li")].filter((one) => one.scrollWidth > one.clientWidth + 1).length`,
      );
      expect([width, cut]).toEqual([width, 0]);
    }
    await page.close();
  });

  test("polish: paper keeps Tokens and $/M, and names gateway, time and filters", async () => {
    const page = await stage.open(browser, "/spend?by=key&key=ci-bot", { width: 700, height: 900 });
    await page.waitFor("document.querySelector('table.spend tfoot')");
    const shown = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll("table.spend th, p.print")].filter((one) => one.offsetParent).map((one) => one.innerText)`,
      );
    expect((await shown()).join(" ")).not.toMatch(/Tokens/);
    // What the rules for paper do, on the screen.
    await page.evaluate(`
      for (const sheet of document.styleSheets)
        for (const rule of [...sheet.cssRules])
          if (rule instanceof CSSMediaRule && rule.conditionText === "print")
            for (const inner of rule.cssRules) sheet.insertRule(inner.cssText, sheet.cssRules.length);`);
    const paper = (await shown()).join(" ");
    expect(paper).toMatch(/Tokens/);
    expect(paper).toMatch(/\$\/M|a million/);
    expect(paper).toContain("only key ci-bot");
    expect(paper).toContain(new URL(stage.admin.url).host);
    expect(paper).toMatch(/\d{4}-\d\d-\d\d/);
    await page.close();
  });
});
