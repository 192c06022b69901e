/** The pages Playground, Prices, Config and Store in Chromium, on a gateway with a seeded store. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CallEntry, Reconciliation, UsageReport } from "../../../src/operator/index.ts";
import { dollars, lineOf } from "../../../src/console/numbers/money.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(180_000);

describe.skipIf(missingChromium !== undefined)(`Chromium (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        seed: { calls: 300, days: 3 },
        config: { prices: { "mock/*": { input: 3, output: 15 } } },
      }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  for (const [format, path, last] of [
    ["chat-completions", "/v1/chat/completions", "data: [DONE]"],
    ["messages", "/v1/messages", "event: message_stop"],
    ["responses", "/v1/responses", "event: response.completed"],
  ] as const)
    for (const stream of [true, false])
      test(`a trial in ${format} ${stream ? "streams" : "is answered"}, is booked, and shows its request`, async () => {
        const page = await stage.open(browser, `/playground?model=smart&format=${format}&key=stage`);
        await page.waitForText("The first try may cost up to");
        if (!stream) await page.click("=stream the answer");
        await page.click("=Send");
        const shown = await page.waitForText(/Cost\s+~?\$/, "#answer .facts");
        expect(await page.text("[data-answer]")).toMatch(/weir's mock/);
        expect(await page.text("#answer")).toContain(`POST ${path}`);
        const id = /req_[\w-]+/.exec(shown)![0];
        const call = await stage.api.send<CallEntry>("GET", `/calls/${id}`);
        expect(call).toMatchObject({ format, stream, keyName: "stage", outcome: "complete" });
        const cost = call.attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
        expect(shown).toContain(dollars(cost));
        // The breaker of the first target opens after some failures.
        if (call.attempts.length > 1) expect(shown).toContain("after 1 failed try");
        await page.click("=As sent back");
        const back = await page.waitForText("weir", "#answer pre");
        if (stream) expect(back).toContain(last);
        else expect(back).toStartWith("{");
        await page.click("=Headers");
        await page.waitForText(id, "#answer pre");
        expect(page.faults).toEqual([]);
        await page.close();
      });

  test("a refused trial shows the error in the client's format, and what the SDK raises", async () => {
    const page = await stage.open(browser, "/playground?model=nothing-of-this&format=messages&key=stage");
    await page.waitForText("It would get 404");
    await page.click("=Send");
    await page.waitForText("anthropic.NotFoundError", "#answer");
    expect(await page.text("#answer pre")).toContain('"type": "not_found_error"');
    await page.close();
  });

  test("no key is chosen by itself where there are several", async () => {
    const page = await stage.open(browser, "/playground?model=smart");
    await page.waitForText("What “smart” means now");
    await page.waitFor(`document.querySelector("button[title='Choose the key that pays for the call.']")`);
    expect(await page.evaluate<boolean>("document.querySelector('[type=submit]').disabled")).toBe(true);
    await page.close();
  });

  test("what-if onto the same model gives the same sum", async () => {
    const model = "openai/gpt-5.4";
    const page = await stage.open(browser, `/prices?range=7d&instead=${model}&ask=${model}`);
    const text = await page.waitForText("difference", "[aria-label='What if'] .ledger");
    const [was, would] = [...text.matchAll(/\$[\d,.]+/g)].map(([amount]) => amount);
    expect(was).toBeDefined();
    expect(would).toBe(was!);
    expect(text).toMatch(/\$0\.00\d*$/);
    await page.close();
  });

  test("an invoice is compared with what the books have, to the nano-dollar", async () => {
    const month = new Date().toISOString().slice(0, 7);
    const page = await stage.open(browser, "/prices");
    await page.fill("=Provider", "openai");
    await page.fill("=Month, UTC", month);
    await page.fill("=Sum of the invoice", "100");
    await page.click("=Compare");
    const text = await page.waitForText("difference", "[aria-label='Invoice against the books']");
    const from = Date.parse(`${month}-01`);
    const { total } = await stage.api.send<UsageReport>("GET", `/usage?provider=openai&from=${from}`);
    expect(text).toContain(lineOf(total.cost, 9).replace(/0+$/, ""));
    const body = { provider: "openai", month, amount: 100_000_000_000 };
    const { causes, difference } = await stage.api.send<Reconciliation>("POST", "/invoices", { body });
    expect(causes.reduce((sum, { amount }) => sum + amount, 0)).toBe(difference);
    await page.close();
  });

  test("an edit of the file is shown as a diff, and holds after the reload", async () => {
    const page = await stage.open(browser, "/config");
    await page.waitForText("routes");
    const file = join(stage.folder, "weir.yaml");
    const config = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    stage.configure(JSON.stringify({ ...config, limits: { bodyBytes: 7_654_321 } }));
    await page.waitForText("weir.yaml on disk differs from what runs");
    await page.waitForText("+limits.bodyBytes: 7654321");
    await page.click("=Reload…");
    await page.waitForText("1 option holds from the next call on.", "dialog");
    await page.click("=Reload");
    await page.waitFor("!document.querySelector('dialog')");
    await page.waitForText("7654321");
    await page.waitFor("!document.body.innerText.includes('differs from what runs')");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("the books are proved, checked and copied, and the copy is in the log", async () => {
    const copy = join(stage.state, "copy.db");
    const page = await stage.open(browser, "/store");
    await page.waitForText("The books balance.");
    await page.click("=Prove again");
    await page.waitForText("The books balance.");
    await page.click("=Check for damage");
    await page.waitForText("the file is not damaged: ok");
    await page.click("=Back up…");
    await page.fill("=File on the machine of the gateway", copy);
    await page.press("Enter");
    await page.waitFor("!document.querySelector('dialog')");
    expect(existsSync(copy)).toBe(true);
    await page.waitForText(copy, "[aria-label='Store']");
    await page.waitForText(`copied the store to ${copy}`, "[aria-label='Who did what']");
    expect(page.faults).toEqual([]);
    await page.close();
  });
});
