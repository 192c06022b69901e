/** S13, change 14: who spent most, on what, without writing an address by hand. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { UsageReport } from "../../../src/operator/index.ts";
import { dollars } from "../../../src/console/numbers/money.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

const MONTH = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth());

describe.skipIf(missingChromium !== undefined)(`Spend (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let page: BrowserPage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ seed: { calls: 1_200, days: 12 } })]);
    page = await stage.open(browser, "/spend?by=key");
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  const usage = (query: string) => stage.api.send<UsageReport>("GET", `/usage?from=${MONTH}&${query}`);
  const search = () => page.evaluate<string>("location.search");
  const rows = (selector: string) =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((row) => row.innerText.replace(/\\s/g, ""))`,
    );

  test("S13: a key is divided into its models, which add up to it, and each figure opens its calls", async () => {
    await page.click("=ci-bot by model");
    await page.waitFor("document.querySelectorAll('table.spend tr.sub td').length > 8");
    const { rows: models, total } = await usage("by=provider,model&key=ci-bot");
    const shown = await rows("table.spend tr.sub");
    expect(shown).toHaveLength(models.length);
    expect(models.reduce((sum, { cost }) => sum + cost, 0)).toBe(total.cost);
    for (const { group, cost } of models.filter((row) => row.cost > 0)) {
      const row = shown.find((text) => text.startsWith(`${group["provider"]}/${group["model"]}`));
      expect(row).toContain(dollars(cost));
    }
    expect(await search()).toContain("divided=");
    const href = await page.evaluate<string>(
      "document.querySelector('table.spend tr.sub a.fig').getAttribute('href')",
    );
    const query = new URL(href, "http://console").searchParams;
    expect([query.get("key"), query.has("model"), query.has("provider")]).toEqual(["ci-bot", true, true]);
  });

  test("S13: another second grouping divides the row by that", async () => {
    await page.evaluate(
      `(() => { const select = [...document.querySelectorAll("label.field")].find((label) => label.innerText.startsWith("Then by")).querySelector("select");
        select.selectedIndex = [...select.options].findIndex(({ text }) => text === "Provider");
        select.dispatchEvent(new Event("change", { bubbles: true })); })()`,
    );
    const { rows: providers } = await usage("by=provider&key=ci-bot");
    await page.waitFor(`document.querySelectorAll('table.spend tr.sub').length === ${providers.length}`);
    expect(await search()).toContain("then=provider");
  });

  test("S13: a click on a name narrows Spend to it, by the second grouping", async () => {
    await page.go(`${stage.admin.url}/console/spend?by=key`);
    await page.click("=ci-bot");
    await page.waitFor("location.search.includes('key=ci-bot')");
    expect(await search()).toContain("by=model");
    const { total } = await usage("key=ci-bot");
    await page.waitFor(
      `document.querySelector(".spend-head .big").innerText === ${JSON.stringify(dollars(total.cost))}`,
    );
  });

  test("S13: the filter box narrows Spend; what sums cannot follow is named", async () => {
    await page.go(`${stage.admin.url}/console/spend`);
    await page.fill("#filter", "key:ci-bot");
    await page.press("Enter");
    const { total } = await usage("key=ci-bot");
    await page.waitFor(
      `document.querySelector(".spend-head .big").innerText === ${JSON.stringify(dollars(total.cost))}`,
    );
    await page.fill("#filter", "outcome:failed");
    await page.press("Enter");
    await page.waitForText("no sums by outcome");
    await page.click("=Remove");
    await page.waitFor("!location.search.includes('outcome')");
  });

  test("S13: rows are ranked by calls and tokens, and the chart keeps the most expensive", async () => {
    await page.go(`${stage.admin.url}/console/spend?by=key&rank=calls`);
    await page.waitFor("document.querySelector('table.spend tfoot')");
    const { rows: keys } = await usage("by=key");
    const most = keys.toSorted((a, b) => b.calls - a.calls)[0]!;
    expect((await rows("table.spend tbody tr"))[0]).toContain(
      (most as { keyName?: string }).keyName ?? "nokey",
    );
  });

  test("M1, change 22: a file by day has the sums in dollars, and paper names gateway, time and filters", async () => {
    await page.go(`${stage.admin.url}/console/spend?by=key&key=ci-bot`);
    await page.waitFor("document.querySelector('table.spend tfoot')");
    await page.evaluate(
      "URL.createObjectURL = (blob) => { blob.text().then((text) => (window.saved = text)); return '#'; }",
    );
    await page.click("=CSV by day");
    await page.waitFor("window.saved");
    const [head, ...lines] = (await page.evaluate<string>("window.saved")).trim().split("\r\n");
    const names = head!.split(",");
    const spent = lines.map((line) => Number(line.split(",")[names.indexOf("spent")]));
    const { total } = await usage("key=ci-bot");
    expect(Math.round(spent.reduce((sum, one) => sum + one, 0) * 1e9)).toBe(total.cost);
    expect(names.slice(0, 5)).toEqual(["from", "to", "day", "key", "keyName"]);
    const statement = await page.evaluate<string>("document.querySelector('p.print').textContent");
    expect(statement).toContain("only key ci-bot");
    expect(statement).toContain(new URL(stage.admin.url).host);
  });

  test("S13: no width of Spend scrolls sideways with a divided row", async () => {
    for (const width of [390, 1024, 1440]) {
      await page.view({ width });
      await page.go(`${stage.admin.url}/console/spend?by=provider`);
      await page.click("button.divide");
      await page.waitFor("document.querySelector('table.spend tr.sub')");
      expect(await page.sideways()).toBe(0);
    }
    await page.view({});
  });
});
