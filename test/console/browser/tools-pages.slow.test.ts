/** The pages Playground, Cache, Prices, Config and Store in Chromium, in their states and widths, with made-up answers. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Stage, startStage } from "../stage.ts";
import { CACHE_SESSION } from "./tools-cache.ts";
import { type FakeState, fakeOf } from "./tools-fake.ts";
import { CALL, STREAM } from "./tools-trial.ts";

setDefaultTimeout(180_000);

/** Addresses with what is open on them, and the words of each state. */
const PAGES: Readonly<Record<string, Readonly<Record<FakeState, string>>>> = {
  "/playground?model=smart&key=key_41d0": {
    full: "eng, month",
    empty: "Nothing was sent yet.",
    failed: "The plan could not be read.",
    loading: "Nothing was sent yet.",
  },
  "/playground?model=smart&key=key_41d0&view=onward": {
    full: "Headers as sent on",
    empty: "Headers as sent on",
    failed: "Nothing to explain yet.",
    loading: "What “smart” means now",
  },
  [`/cache?open=${CACHE_SESSION.session}`]: {
    full: "tools came in another order: 43,406 tokens read anew, for $0.1172 more.",
    empty: "No provider has reported a cache in this time.",
    failed: "Cache figures could not be read.",
    loading: "Cache",
  },
  "/prices?ask=anthropic/claude-sonnet-5&find=claude": {
    full: "+$52.90",
    empty: "Every model that was used has a price.",
    failed: "Usage could not be read.",
    loading: "Invoice against the books",
  },
  "/config?all=1&file=4": {
    full: "weir.yaml on disk differs from what runs",
    empty: "capture.keys",
    failed: "The configuration could not be read.",
    loading: "Effective values",
  },
  "/store?entry=4": {
    full: "raised the limit of the budget “agents, month” from $400.00 to $500.00",
    empty: "Nothing has been changed yet.",
    failed: "The proof could not be read.",
    loading: "Who did what",
  },
};

/** Tables that are wider than their panel, by their first words. */
const WIDE_TABLES = `[...document.querySelectorAll(".scroll")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => [box.innerText.slice(0, 40), box.scrollWidth - box.clientWidth])`;

const WIDTHS = [1440, 1280, 1024, 768, 390];
/** Bones appear after 150 ms. */
const SETTLED = 400;

describe.skipIf(missingChromium !== undefined)(`Chromium (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage()]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  async function open(path: string, state: FakeState): Promise<BrowserPage> {
    const page = await browser.open("about:blank");
    await page.answer(fakeOf(state));
    await page.go(`${stage.admin.url}/console${path}`);
    return page;
  }

  for (const [path, words] of Object.entries(PAGES))
    for (const state of ["full", "empty", "failed", "loading"] as const)
      test(`${path} is readable at each width, ${state}`, async () => {
        const page = await open(path, state);
        await page.waitForText(words[state]);
        await Bun.sleep(SETTLED);
        for (const width of WIDTHS) {
          const dark = width === 390;
          await page.view({ width, height: dark ? 844 : 900, dark });
          expect([width, await page.sideways()]).toEqual([width, 0]);
          expect([width, await page.evaluate(WIDE_TABLES)]).toEqual([width, []]);
          if (width === 1440 || dark) expect(await page.violations()).toEqual([]);
        }
        // Chromium reports each answer that is an error.
        if (state !== "failed") expect(page.faults).toEqual([]);
        expect([...page.hosts]).toEqual([new URL(stage.admin.url).host]);
        await page.close();
      });

  test("a conversation folds the calls between breaks, and shows them all on demand", async () => {
    const page = await open(`/cache?open=${CACHE_SESSION.session}`, "full");
    const rows = () =>
      page.evaluate<number>("document.querySelectorAll('.session-calls td.wide svg').length");
    await page.waitForText("3 calls without a break");
    const folded = await rows();
    await page.click("=3 calls without a break");
    await page.waitFor("!document.body.innerText.includes('without a break')");
    expect([folded, await rows()]).toEqual([CACHE_SESSION.calls.length - 3, CACHE_SESSION.calls.length]);
    await page.close();
  });

  test("an invoice is compared in lines that add up to its difference", async () => {
    const page = await open("/prices", "full");
    await page.waitFor("document.querySelector('input[list=reconcile-providers]')?.value");
    await page.fill("=Sum of the invoice", "412.33");
    await page.press("Enter");
    await page.waitForText("not through weir");
    const amounts = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[aria-label="Causes of the difference"] .num')].map((cell) => cell.innerText)`,
    );
    const nano = amounts.map((text) =>
      Math.round(Number(text.replace("−", "-").replace(/[+$,]/g, "")) * 1e9),
    );
    const difference = nano.pop()!;
    expect(nano.reduce((sum, one) => sum + one, 0)).toBe(difference);
    await page.close();
  });

  test("the reload tells what changes at once and what needs a restart", async () => {
    const page = await open("/config", "full");
    await page.click("=Reload…");
    const text = await page.waitForText("restart", "dialog");
    expect(text).toContain("1 option holds from the next call on.");
    expect(text).toContain("This one needs a restart: workers.");
    await page.click("=Reload");
    await page.waitFor("!document.querySelector('dialog')");
    await page.close();
  });

  test("a reload that fails says why, where it was asked for", async () => {
    const page = await open("/config", "full");
    const failure = { error: { code: "gateway_failed", message: "The gateway cannot answer: no reload." } };
    await page.answer((url, method) =>
      url.pathname.endsWith("/reload") ? { status: 503, body: failure } : fakeOf("full")(url, method),
    );
    await page.click("=Reload…");
    await page.waitForText("restart", "dialog");
    await page.click("dialog [type=submit]");
    await page.waitForText("no reload.", "dialog [role=alert]");
    await page.close();
  });

  test("markup in an answer is text, and an answer of 5 MB does not hang the page", async () => {
    const page = await open("/playground?model=smart&key=key_41d0", "full");
    const long = "All work and no play. ".repeat(240_000);
    const chunk = { choices: [{ index: 0, delta: { content: long } }] };
    let body = STREAM;
    await page.answer((url, method) => {
      const answer = fakeOf("full")(url, method);
      return url.pathname.endsWith("/playground") && typeof answer === "object"
        ? { ...answer, body }
        : answer;
    });
    await page.click("=Send");
    await page.waitForText(CALL.id);
    expect(await page.text("[data-answer]")).toContain("<img src=x onerror=alert(1)>");
    expect(await page.evaluate<number>("document.querySelectorAll('[data-answer] img').length")).toBe(0);
    body = `data: ${JSON.stringify(chunk)}\n\n${STREAM}`;
    await page.click("=Send");
    await page.waitForText("Show all of it, 5.28 MB");
    expect(
      await page.evaluate<number>("document.querySelector('[data-answer]').innerText.length"),
    ).toBeLessThan(300_000);
    expect(page.faults).toEqual([]);
    await page.close();
  });
});
