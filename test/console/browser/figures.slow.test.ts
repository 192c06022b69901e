/** Figures of the console that an operator acts on: what budgets do, what is wrong now, what a call took and cost. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Budget, CallEntry, Key, Overview } from "../../../src/operator/index.ts";
import { dollars } from "../../../src/console/numbers/money.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { json, stalled, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import { until } from "../../helpers/serving.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

const DOLLAR = 1_000_000_000;
const DECLARED = "key-of-the-config-0123456789";

describe.skipIf(missingChromium !== undefined)(`figures (${missingChromium ?? "Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let page: BrowserPage;
  let host: Upstream;

  beforeAll(async () => {
    const message = { role: "assistant", content: "Hi." };
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const whole = json({
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage,
    });
    // Its streams begin, and bring nothing more.
    const head = {
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { role: "assistant", content: " " } }],
    };
    const begun = stalled([`data: ${JSON.stringify(head)}\n\n`]);
    host = startUpstream(({ body }) => (body.includes('"stream":true') ? begun : whole));
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        config: {
          keys: [{ name: "declared", key: DECLARED }],
          providers: { host: { speaks: "chat-completions", baseUrl: `${host.url}/v1`, models: ["large"] } },
        },
      }),
    ]);
    page = await stage.open(browser, "/");
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
    host?.stop();
  });

  const show = (path: string) => page.go(`${stage.admin.url}/console${path}`);
  const read = <Answer>(path: string) => stage.api.send<Answer>("GET", path);
  const make = (name: string, limit: number, more: object) =>
    stage.api.send<Budget>("POST", "/budgets", {
      body: { name, limit, window: "month", mode: "hard", alerts: [], ...more },
    });
  const on = async (key: string) => {
    const { keys } = await read<{ keys: Key[] }>("/keys");
    return { kind: "key", what: keys.find(({ name }) => name === key)!.id };
  };
  const card = async (name: string) => {
    await page.waitFor(
      `[...document.querySelectorAll(".budgets li")].some((card) => card.innerText.includes("${name}"))`,
    );
    return page.evaluate<string>(
      `[...document.querySelectorAll(".budgets li")].find((card) => card.innerText.includes("${name}")).innerText`,
    );
  };
  /** Makes a stream and leaves it after its first piece. @returns its id */
  async function leave(model: string): Promise<string> {
    const leaving = new AbortController();
    const response = await fetch(`${stage.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${DECLARED}` },
      body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hello" }] }),
      signal: leaving.signal,
    });
    await response.body!.getReader().read();
    leaving.abort();
    return response.headers.get("x-request-id")!;
  }
  async function ended(id: string): Promise<CallEntry> {
    for (;;)
      try {
        return await read<CallEntry>(`/calls/${id}`);
      } catch {
        await Bun.sleep(100);
      }
  }

  test("M3: streams that were not seen since the start are not said to be none", async () => {
    await stage.call("mock/chat", { key: DECLARED });
    await show("/");
    await page.waitForText(/no streams since \d\d:\d\d/);
    expect(await page.text()).not.toContain("no streams in the last hour");
  });

  test("S6: a budget that refuses each call says so on its card and on Now, although nothing is spent", async () => {
    const key = stage.createKey("intern");
    await make("intern a month", DOLLAR / 100, { on: await on("intern") });
    for (let n = 0; n < 3; n++) expect((await stage.call("mock/long-1000", { key })).status).toBe(429);
    await show("/keys");
    await page.waitForText("intern a month");
    await page.waitFor(`document.querySelector(".budgets")?.innerText.includes("refused within a day")`);
    const shown = await card("intern a month");
    expect(shown).toContain("3 calls were refused within a day, by it or another.");
    expect(shown).not.toContain("Nothing is spent");
    await show("/");
    await page.waitForText("Budgets have refused 3 calls in the last hour.");
  });

  test("M2: what weir refused is no error of providers", async () => {
    await stage.call("mock/chat", { key: DECLARED });
    await show("/");
    expect(await page.waitForText(/Errors, last hour[^]*3 rejected/)).toMatch(
      /Errors, last hour\s+0 ?%\s+none of \d+ calls; 3 rejected/,
    );
  });

  test("M2: calls a minute are those of the last minutes (an answer with a busy hour and a quiet end)", async () => {
    const overview = await read<Overview>("/overview");
    const perMinute = Array.from({ length: 60 }, (_, at) => (at < 50 ? 110 : 0));
    await page.answer(({ pathname }) =>
      pathname === "/admin/v1/overview"
        ? { body: { ...overview, perMinute, hour: { ...overview.hour, calls: 5_500 } } }
        : undefined,
    );
    await show("/");
    expect(await page.waitForText("5,500 in the last hour")).toMatch(
      /Calls a minute\s+0\s+5,500 in the last hour/i,
    );
    await page.answer(undefined);
  });

  test("S17, change 17: a key that spends a month's budget within an hour is not said to last", async () => {
    const key = stage.createKey("runaway");
    for (let n = 0; n < 8; n++) await stage.call("mock/long-1000", { key });
    // The end of the month may be so near that what is left lasts: then the budget is one of a week.
    const tomorrow = new Date(Date.now() + 86_400_000);
    const window = tomorrow.getUTCMonth() === new Date().getUTCMonth() ? "month" : "week";
    await make("runaway limit", DOLLAR, { on: await on("runaway"), window });
    for (let n = 0; n < 8; n++) await stage.call("mock/long-1000", { key });
    await show("/keys");
    await page.waitForText("runaway limit");
    await page.waitFor(`document.querySelector(".budgets").innerText.includes("before the window ends")`);
    expect(await card("runaway limit")).toMatch(/Empty .* before the window ends, at this pace\./);
  });

  test("M6: a watched budget of a month has an end", async () => {
    await make("all watched", 50 * DOLLAR, { on: { kind: "all", what: "" }, mode: "watch" });
    await stage.call("mock/chat", { key: DECLARED });
    // The window begins with the first call that is booked.
    const isBooked = async () => (await stage.budget("all watched")).windows.some(({ spent }) => spent > 0);
    expect(await until(isBooked, 20_000)).toBe(true);
    await show("/keys");
    await page.waitForText("all watched");
    const shown = await card("all watched");
    expect(shown).not.toContain("without an end");
    expect(shown).toMatch(/Next window: |before the window ends/);
  });

  test("S19, M5, change 19: a call that its client left says how long after the first token, and its lines add up", async () => {
    const id = await leave("mock/pace-20");
    const { attempts } = await ended(id);
    await show(`/calls/${id}`);
    // The lines of the charge are read after the call.
    const shown = await page.waitForText(/fresh input\s+6\s+3\S*\s+\$0\.000018/);
    expect(shown).not.toContain("before the first token");
    expect(shown).toContain("after the first token, booked as ");
    const cost = attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
    expect(cost).toBeGreaterThan(0);
    expect(shown).toContain(dollars(cost));
  });

  test("M9: a stream that was left has no tokens a second: they are an upper bound", async () => {
    const id = await leave("host/large");
    expect((await ended(id)).attempts[0]!.usage.output).toBeGreaterThan(0);
    await show(`/calls/${id}`);
    const shown = await page.waitForText("Money");
    expect(shown).toMatch(/The client left after [\d.]+ m?s, [\d.]+ m?s after the first token/);
    expect(shown).not.toContain("tokens/s");
  });

  test("M9: an answer that is no stream has no tokens a second", async () => {
    const { id } = await stage.call("mock/long-1000", { key: DECLARED });
    await ended(id);
    await show(`/calls/${id}`);
    const shown = await page.waitForText("Money");
    expect(shown).toContain("answer");
    expect(shown).not.toContain("tokens/s");
  });

  test("M11: a key of the config shows when it was used last", async () => {
    await show("/keys/declared");
    const shown = await page.waitForText(/last used\s+\S+/);
    expect(shown).not.toMatch(/last used\s+(?:never|–)/);
  });

  test("M17: the lines for missing prices hold no price", async () => {
    expect((await stage.call("host/large", { key: DECLARED })).status).toBe(200);
    await show("/prices");
    const shown = await page.waitForText("Lines for weir.yaml");
    expect(shown).toContain('"host/large": {input: ?, output: ?}');
    expect(shown).not.toMatch(/\{input: \d/);
  });
});
