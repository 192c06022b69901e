/** Facts of models on Prices, and models of the config that end soon. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { json, startUpstream } from "../../helpers/upstream.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const DAY_MS = 86_400_000;
const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const ROWS = `[...document.querySelectorAll('[aria-label="Models"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))`;

describe.skipIf(missingChromium !== undefined)(`models (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  const vendor = startUpstream(({ path }) =>
    path.endsWith("/models")
      ? json({
          data: [
            { id: "soon", context_length: 131_072, expiration_date: dayIn(12) },
            { id: "later", context_length: 8_000, expiration_date: dayIn(200) },
          ],
        })
      : json({ choices: [{ message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] }),
  );

  beforeAll(async () => {
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        config: {
          providers: {
            acme: { baseUrl: `${vendor.url}/v1`, speaks: "chat-completions", apiKey: "k" },
            openai: { apiKey: "unused" },
          },
          aliases: { big: "openai/gpt-5.4" },
          routes: { smart: ["acme/soon", "acme/later"] },
        },
      }),
    ]);
    await stage.call("mock/chat");
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
    vendor.stop();
  });

  test("models: Prices has context, longest answer, abilities, price and last day of models", async () => {
    const page = await stage.open(browser, "/prices");
    await page.waitFor(`${ROWS}.length === 4`);
    const rows = await page.evaluate<string[][]>(ROWS);
    const of = (name: string) => rows.find(([model]) => model!.startsWith(name))!;
    expect(of("acme/soon")[0]).toContain("routes.smart[0]");
    expect(of("acme/soon").at(-1)).toBe(dayIn(12));
    expect(of("acme/soon")[1]).toBe("131 k");
    const [, context, longest, can, input, output] = of("openai/gpt-5.4");
    expect(can).toMatch(/^vision.*tools.*reasoning/);
    expect([context, longest].every((cell) => /^[\d.,]+( [kM])?$/.test(cell!))).toBe(true);
    expect([input, output].every((cell) => Number(cell) > 0)).toBe(true);
    expect(of("mock/chat")[0]).toBe("mock/chat");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("models: one that ends within 30 days is a note on Now and on Prices, with the day and what goes on", async () => {
    const sentence = `acme/soon (routes.smart[0]) ends on ${dayIn(12)}, in 12 days. Calls can go on at acme/later`;
    const page = await stage.open(browser, "/");
    await page.waitForText(sentence);
    expect(await page.text("main")).not.toContain("acme/later (");
    await page.click("=Models");
    await page.waitForText(sentence);
    expect(await page.evaluate<string>("location.pathname")).toBe("/console/prices");
    expect(page.faults).toEqual([]);
    await page.close();
  });
});
