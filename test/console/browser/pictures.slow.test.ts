/** Spend and Providers as pictures: what the page shows, without its style sheets, under its policy. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

describe.skipIf(missingChromium !== undefined)(`pictures (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let page: BrowserPage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ seed: { calls: 600, days: 8 } })]);
    page = await stage.open(browser, "/spend?by=key");
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  /** Saves by a button. @returns the bytes of the file in base64 */
  async function saved(path: string, button: string, ready: string): Promise<Buffer> {
    await page.go(`${stage.admin.url}/console${path}`);
    await page.waitFor(ready);
    await page.evaluate(
      `URL.createObjectURL = (blob) => { blob.arrayBuffer().then((bytes) => { window.saved = [...new Uint8Array(bytes)]; }); return "#"; }`,
    );
    await page.click(button);
    await page.waitFor("window.saved");
    return Buffer.from(await page.evaluate<number[]>("window.saved"));
  }

  const SPEND = "document.querySelectorAll('svg.chart a.col rect[class^=f]').length > 0";

  test("Spend as SVG has the figures and bars of the page, and no style, class, link or script", async () => {
    const svg = (await saved("/spend?by=key", "=SVG", SPEND)).toString();
    const total = await page.text(".spend-head .big");
    for (const text of [total, "ci-bot", "weir"]) expect(svg).toContain(`${text}`);
    expect(svg).not.toMatch(/\s(class|style|href|onclick)=|<script|foreignObject|var\(/);
    const bars = await page.evaluate<number>("document.querySelectorAll('svg.chart a.col rect').length");
    expect(svg.match(/<rect/g)!.length).toBeGreaterThan(bars);
    const fills = new Set(svg.match(/fill="rgb[^"]+"/g));
    expect(fills.size).toBeGreaterThan(5);
    expect(page.faults).toEqual([]);
  });

  test("Providers as PNG is twice as wide as on the page", async () => {
    const png = await saved("/providers", "=PNG", "document.querySelector('article')");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const wide = await page.evaluate<number>("document.getElementById('main').getBoundingClientRect().width");
    expect(png.readUInt32BE(16)).toBeWithin((wide + 30) * 2, (wide + 34) * 2 + 1);
    expect(png.length).toBeGreaterThan(10_000);
    if (process.env["PICTURES"]) await Bun.write(`${process.env["PICTURES"]}/providers.png`, png);
    expect(page.faults).toEqual([]);
  });

  test("Providers as SVG has no text of a part that is closed", async () => {
    const svg = (await saved("/providers", "=SVG", "document.querySelector('article details')")).toString();
    expect(svg).toContain(">healthy<");
    expect(await page.evaluate<string>("document.querySelector('article details').textContent")).toContain(
      "weight",
    );
    expect(svg).not.toContain(">weight<");
  });

  test("a session as SVG has its turns with what they cost, and as PNG is drawn", async () => {
    const { sessions } = await stage.api.send<{ sessions: { session: string }[] }>("GET", "/sessions");
    const path = `/sessions/${sessions[0]!.session}`;
    const svg = (await saved(path, "=SVG", "document.querySelector('.session > li')")).toString();
    expect(svg).toContain(`Session ${sessions[0]!.session}`);
    const turns = await page.evaluate<number>("document.querySelectorAll('.session > li').length");
    expect(turns).toBeGreaterThan(0);
    const models = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.session > li header .mid')].map((one) => one.innerText.split(' ')[0])",
    );
    for (const model of models) expect(svg).toContain(`>${model}<`);
    expect(svg).not.toMatch(/\s(class|style|href|onclick)=|<script|foreignObject|var\(/);
    expect((await saved(path, "=PNG", "document.querySelector('.session > li')")).length).toBeGreaterThan(
      10_000,
    );
    expect(page.faults).toEqual([]);
  });

  test("Spend as PNG is drawn under the policy of the console", async () => {
    const png = await saved("/spend?by=key", "=PNG", SPEND);
    expect(png.length).toBeGreaterThan(20_000);
    if (process.env["PICTURES"]) await Bun.write(`${process.env["PICTURES"]}/spend.png`, png);
    expect(page.faults).toEqual([]);
  });
});
