/** Small truths: what a figure, a column, an axis or a button says is what it does. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Calls, CallsSummary, Overview } from "../../../src/operator/index.ts";
import { completion } from "../../books/stress.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import { until } from "../../helpers/serving.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const DAY = 86_400_000;
const HEAD = "section[aria-label=Calls] h2";

describe.skipIf(missingChromium !== undefined)(`small truths (${missingChromium ?? "in a browser"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ seed: { calls: 900, days: 3 } })]);
    // A call whose client leaves: it has not failed.
    const stop = new AbortController();
    const key = stage.createKey("leaver");
    const left = await fetch(`${stage.url}/v1/chat/completions`, {
      ...{ method: "POST", signal: stop.signal },
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        ...{ model: "mock/pace-20", stream: true },
        messages: [{ role: "user", content: "Hello, and many more words" }],
      }),
    });
    await left.body!.getReader().read();
    stop.abort();
    await until(async () => (await summary("outcome=cancelled")).calls > 0, 10_000);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  const summary = (query: string) => stage.api.send<CallsSummary>("GET", `/calls/summary?slices=1&${query}`);
  const rows = "document.querySelectorAll('tr[data-id]').length > 0";
  const search = (page: BrowserPage) => page.evaluate<string>("location.search");

  test("M4: Failed has one meaning in the head, in the chip and in the filter", async () => {
    const page = await stage.open(browser, "/calls?range=30d");
    await page.waitFor(rows);
    const { failed } = await summary(`from=${Date.now() - 30 * DAY}`);
    const { calls: left } = await summary(`from=${Date.now() - 30 * DAY}&outcome=cancelled`);
    expect(Math.min(failed, left)).toBeGreaterThan(0);
    await page.waitForText(`${failed} failed`, "section[aria-label=Calls] > header");
    await page.click("=Failed");
    const head = await page.waitForText(new RegExp(`^${failed} calls`), HEAD);
    expect(head).toContain(String(failed));
    await page.waitForText(`${failed} failed`, "section[aria-label=Calls] > header");
    const words = await page.evaluate<string[]>(
      "[...document.querySelectorAll('tr[data-id] .p-status')].map((one) => one.innerText)",
    );
    expect(words.filter((word) => word.startsWith("left"))).toEqual([]);
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("M2, M4: Errors of the last hour lead to the calls that they count, without those that weir rejected", async () => {
    const key = stage.createKey("errors");
    for (const model of ["mock/error-503", "mock/chat", "no-such/model"]) await stage.call(model, { key });
    const read = async () => (await stage.api.send<Overview>("GET", "/overview")).hour;
    expect(await until(async () => (await read()).rejected > 0 && (await read()).failed > 0, 10_000)).toBe(
      true,
    );
    const hour = await read();
    const query = `from=${Date.now() - DAY / 24}&outcome=failed`;
    expect((await summary(`${query}&rejected=false`)).calls).toBe(hour.failed);
    const page = await stage.open(browser, "/");
    await page.waitForText("Errors, last hour", ".strip");
    await page.evaluate(
      "[...document.querySelectorAll('.stat')].find((one) => one.innerText.includes('Errors')).querySelector('.v a').click()",
    );
    await page.waitForText(new RegExp(`^${hour.failed} calls?$`), HEAD);
    expect(await search(page)).toContain("flag=errors");
    await page.close();
  });

  test("M7: calls are listed by the time that their first column shows", async () => {
    const page = await stage.open(browser, "/calls?range=7d");
    await page.waitFor("document.querySelectorAll('tr[data-id]').length >= 60");
    expect(await page.text("table.stackrows th")).toBe("Ended");
    const times = await page.evaluate<number[]>(
      "[...document.querySelectorAll('tr[data-id] td.p-time time')].map((one) => Date.parse(one.dateTime))",
    );
    expect(times.length).toBeGreaterThanOrEqual(60);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const id = await page.evaluate<string>("document.querySelector('tr[data-id]').dataset.id");
    const { calls } = await stage.api.send<Calls>("GET", `/calls?id=${id}`);
    expect(times[0]).toBe(Math.round(calls[0]!.startedAt + calls[0]!.ms));
    await page.close();
  });

  /** The axis of the chart over Calls. */
  const axis = (page: BrowserPage) =>
    page.evaluate<{ texts: string[]; top: string; beyond: number }>(`(() => {
      const chart = document.querySelector('svg.histogram').getBoundingClientRect();
      const bars = [...document.querySelectorAll('svg.histogram g rect')].map((bar) => bar.getBoundingClientRect());
      return {
        texts: [...document.querySelectorAll('svg.times text')].map((one) => one.textContent),
        top: document.querySelector('.histo .axis span').textContent,
        beyond: Math.max(...bars.map(({ right }) => right - chart.right), ...bars.map(({ left }) => chart.left - left)),
      };
    })()`);

  test("M8: bars stay in their panel, the axis has counts and round times, and now only at the present", async () => {
    const now = Date.now();
    // The last slice ends behind the end of the range.
    for (const [query, end] of [
      ["range=24h", "now"],
      ["range=7d", "now"],
      [`from=${now - DAY}&to=${now - DAY / 8 + 1}`, undefined],
      [`from=${now - DAY}&to=${now + DAY}`, undefined],
    ] as const) {
      const page = await stage.open(browser, `/calls?${query}`);
      await page.waitFor("document.querySelector('svg.histogram g')");
      const { texts, top, beyond } = await axis(page);
      expect([query, beyond <= 0.5]).toEqual([query, true]);
      expect([query, texts.at(-1) === "now"]).toEqual([query, end === "now"]);
      expect([query, texts.length >= 4]).toEqual([query, true]);
      for (const text of texts.slice(1, -1)) expect(text).toMatch(/^\d\d:[0-5]0$|^\d{1,2} [A-Z][a-z]{2}$/);
      expect(Number(top)).toBeGreaterThan(0);
      expect(page.faults).toEqual([]);
      await page.close();
    }
  });

  test("M14: tries and losses have a mark at 1024 pixels, on a phone, and beside an open call", async () => {
    const { calls } = await stage.api.send<Calls>("GET", "/calls?retried=true&limit=5");
    expect(calls.length).toBeGreaterThan(0);
    const [{ id, attempts }] = calls as [Calls["calls"][number]];
    const mark = `${attempts.length} tries`;
    const seen = `(() => {
      const row = document.querySelector('tr[data-id="${id}"]');
      return [...row.querySelectorAll('.tag')].some((tag) => tag.innerText.includes("${mark}") && tag.checkVisibility());
    })()`;
    for (const [width, open] of [
      [1440, false],
      [1024, false],
      [390, false],
      [1440, true],
    ] as const) {
      const path = `/calls?range=30d&flag=retried${open ? `&open=${id}` : ""}`;
      const page = await stage.open(browser, path, { width, height: 900 });
      await page.waitFor(`document.querySelector('tr[data-id="${id}"]')`);
      expect([width, open, await page.evaluate<boolean>(seen)]).toEqual([width, open, true]);
      // Once, not twice.
      const tags = await page.evaluate<number>(
        `[...document.querySelectorAll('tr[data-id="${id}"] .tag')].filter((tag) => tag.innerText.includes("tries") && tag.checkVisibility()).length`,
      );
      expect([width, open, tags]).toEqual([width, open, 1]);
      expect(await page.sideways()).toBe(0);
      await page.close();
    }
  });
});

describe.skipIf(missingChromium !== undefined)(
  `the playground (${missingChromium ?? "in a browser"})`,
  () => {
    let browser: Browser;
    let stage: Stage;
    let upstream: Upstream;

    beforeAll(async () => {
      upstream = startUpstream(() => json(completion()));
      const well = {
        ...{ baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] },
        apiKey: "vendor-key-0123456789",
      };
      const routes = {
        smart: ["well/m", { model: "mock/chat", weight: 3 }, { model: "mock/echo", priority: 1 }],
      };
      [browser, stage] = await Promise.all([
        startBrowser(),
        startStage({ config: { providers: { well }, routes } }),
      ]);
    });

    afterAll(async () => {
      await browser?.close();
      await stage?.end();
      upstream?.stop();
    });

    test("M12: a model is chosen, so that one can send at once; Send shows the answer, not another tab", async () => {
      const page = await stage.open(browser, "/playground");
      await page.waitFor("new URLSearchParams(location.search).get('model') === 'smart'");
      await page.waitFor("!document.querySelector('button[type=submit]').disabled");
      await page.click("=Headers");
      await page.waitFor("location.search.includes('view=headers')");
      await page.click("button[type=submit]");
      await page.waitFor("document.querySelector('[role=tab][aria-selected=true]').innerText === 'Answer'");
      await page.waitFor("document.querySelector('[data-answer]')?.innerText.length > 0");
      expect(page.faults).toEqual([]);
      await page.close();
    });

    test("M12: a Send that cannot be pressed says why beside it", async () => {
      const page = await stage.open(browser, "/playground");
      await page.waitFor("new URLSearchParams(location.search).get('model') === 'smart'");
      await page.fill("=Model, alias or route", "");
      await page.press("Backspace");
      await page.waitFor("document.querySelector('button[type=submit]').disabled");
      await page.waitForText("Name a model first.", "section[aria-label=Request] form");
      // What was removed does not come back.
      await Bun.sleep(500);
      expect(await page.evaluate<string>("location.search")).not.toContain("model=smart");
      await page.close();
    });

    test("M12: the plan has no numbers of priorities, but words", async () => {
      const page = await stage.open(browser, "/playground?model=smart");
      const plan = await page.waitForText("when all above failed", ".plan");
      expect(plan).toContain("weight 1 of 4");
      expect(plan).toContain("weight 3 of 4");
      expect(plan).not.toMatch(/priority \d/);
      await page.close();
    });
  },
);
