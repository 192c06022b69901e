/** The frame and the pages Now and Calls in the browser: keys, states, widths, and names that attack. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const WIDTHS = [390, 768, 1024, 1100, 1200, 1280, 1400, 1440, 1920];
const PAGES = "/ /calls /spend /keys /providers /playground /cache /prices /config /store".split(" ");

/** Id of the call whose row has the focus. */
const FOCUSED = "document.activeElement?.dataset?.id ?? ''";
const OPENED = "document.querySelector('.peek header code')?.innerText ?? ''";
const ROW = "main tr[data-id]";

describe.skipIf(missingChromium !== undefined)(`the console (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ seed: { calls: 900, days: 6 } })]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  const open = (path: string, width = 1440): Promise<BrowserPage> => stage.open(browser, path, { width });

  test("by keys alone: Calls, a filter, a call, the next one, back to its row, and the way back", async () => {
    const page = await open("/");
    await page.waitForText("Just ended");
    await page.press("g");
    await page.press("c");
    await page.waitFor(`location.pathname === "/console/calls" && document.querySelector("${ROW}")`);
    await page.press("/");
    await page.type("outcome:failed");
    await page.press("Enter");
    await page.waitFor(`location.search === "?outcome=failed"`);
    await page.waitFor(
      `[...document.querySelectorAll("${ROW} .p-status")].every((cell) => cell.innerText.trim() !== "200")`,
    );
    // Empty, Escape leaves the box.
    await page.press("Escape");
    await page.press("j");
    const begun = await page.evaluate<string>(FOCUSED);
    expect(begun).toStartWith("req_");
    await page.press("Enter");
    await page.waitFor(`${OPENED} === ${JSON.stringify(begun)}`);
    await page.waitForText(/1 of \d+/, ".peek");
    await page.press("j");
    await page.waitFor(`${OPENED} !== ${JSON.stringify(begun)}`);
    const next = await page.evaluate<string>(OPENED);
    await page.waitForText(/2 of \d+/, ".peek");
    await page.press("Escape");
    await page.waitFor(`!document.querySelector(".peek")`);
    await page.waitFor(`(${FOCUSED}) === ${JSON.stringify(next)}`);
    for (const address of ["?outcome=failed&open=", "?outcome=failed", ""]) {
      await page.evaluate("history.back()");
      await page.waitFor(`location.search.startsWith(${JSON.stringify(address)})`);
    }
    await page.press("?");
    await page.waitForText("go to anything", "dialog[open]");
    await page.press("Escape");
    await page.press("t");
    expect(await page.evaluate<string>("document.documentElement.dataset.theme")).toBe("dark");
    await page.evaluate("localStorage.clear()");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("the address is the state: the same link in another tab shows the same filter, range and call", async () => {
    const page = await open("/calls?range=7d&key=ci-bot&flag=slow");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.click(ROW);
    await page.waitForText("Money", ".peek");
    const address = await page.evaluate<string>(
      "location.pathname.slice('/console'.length) + location.search",
    );
    const [id, chips] = [await page.evaluate<string>(OPENED), await page.text(".filter .box")];
    const other = await open(address);
    await other.waitFor(`${OPENED} === ${JSON.stringify(id)}`);
    expect(await other.text(".filter .box")).toBe(chips);
    expect(
      await other.evaluate<string>("document.querySelector('[role=radio][aria-checked=true]').innerText"),
    ).toBe("7 d");
    for (const one of [page, other]) await one.close();
  });

  test("rows stand still while they are paused, say how many wait, and go on", async () => {
    const page = await open("/");
    await page.waitForText("live", ".top");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.press("p");
    await page.waitForText("Resume", ".top");
    const before = await page.evaluate<string>(`document.querySelector("${ROW}").dataset.id`);
    const { id } = await stage.call("mock/echo");
    await page.waitForText("Resume, 1 waiting", ".top");
    expect(await page.evaluate<string>(`document.querySelector("${ROW}").dataset.id`)).toBe(before);
    await page.press("p");
    await page.waitFor(`document.querySelector("${ROW}").dataset.id === ${JSON.stringify(id)}`);
    await page.close();
  });

  test("a list of calls says how many have ended since it was read, and shows them when asked", async () => {
    const page = await open("/calls");
    await page.waitFor(`document.querySelector("${ROW}")`);
    // The stream has to be there before the call.
    await Bun.sleep(1_500);
    const { id } = await stage.call("mock/echo");
    await page.waitForText("Show 1 newer call");
    await page.click("=Show 1 newer call");
    await page.waitFor(`document.querySelector("${ROW}").dataset.id === ${JSON.stringify(id)}`);
    await page.close();
  });

  test("each state has its words: waiting, failed, nothing matches, an empty range, a call that is gone", async () => {
    const page = await open("/blank");
    const api = async (status: number | "never") =>
      page.answer(({ pathname }) =>
        !pathname.startsWith("/admin/v1/calls")
          ? undefined
          : status === "never"
            ? "never"
            : { status, body: { error: { code: "store", message: "The store did not answer within 2 s." } } },
      );
    const show = (path: string) => page.go(`${stage.admin.url}/console${path}`);
    await api("never");
    await show("/calls");
    await page.waitFor("document.querySelector('[role=status][aria-label=Loading]')");
    await api(503);
    await show("/calls");
    await page.waitForText("Calls could not be read.");
    await page.waitForText("The store did not answer within 2 s. Calls do not need the part that failed.");
    await page.answer(undefined);
    await page.click("=Try again");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await api(503);
    await show("");
    await page.waitForText("Calls could not be read.", 'section[aria-label="Just ended"]');
    await page.answer(undefined);
    await page.click('section[aria-label="Just ended"] .empty button');
    await page.waitFor(`document.querySelector("${ROW}")`);
    await show("/calls?session=0000000000000000");
    await page.waitForText("No call matches.");
    await page.click("=Remove all filters");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await show("/calls?from=1000000000000&to=1000003600000");
    await page.waitForText("No calls between 9 Sep");
    await show("/calls/req_AAAAAAAAAAAAAAAAAAAAAAAA");
    await page.waitForText("No call has this id.");
    await page.close();
  });

  test("S1: a filter that weir refuses shows its reason in the box, and no call of another filter", async () => {
    const page = await open("/calls");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.press("/");
    await page.type("model:gpt-5.4 status:abc");
    await page.press("Enter");
    await page.waitForText("status: expected a status such as 429", '.filter .box [role="alert"]');
    expect(await page.text(".chip.bad")).toContain("status abc");
    expect(await page.evaluate<boolean>(`document.querySelector("${ROW}") === null`)).toBe(true);
    expect(await page.text("section[aria-label=Calls] header")).not.toMatch(/\d+ calls/);
    await page.close();
  });

  test("the words that the filter box shows are read as filters", async () => {
    const page = await open("/calls");
    await page.waitFor(`document.querySelector("${ROW}")`);
    const hint = await page.evaluate<string>("document.getElementById('filter').placeholder");
    await page.press("/");
    await page.type(hint.replace("…", "abc"));
    await page.press("Enter");
    await page.waitFor("location.search.includes('outcome=failed')");
    const search = new URLSearchParams(await page.evaluate<string>("location.search"));
    expect(Object.fromEntries(search)).toEqual({
      ...{ key: "ci-bot", model: "gpt-5.4", outcome: "failed", q: "req_abc" },
    });
    await page.close();
  });

  test("without an answer the console does not say that calls go on", async () => {
    const page = await open("/");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.answer(({ pathname }) => (pathname.startsWith("/admin/v1/") ? "away" : undefined));
    await page.press("g");
    await page.press("s");
    await page.waitForText("Run weir health to see whether calls go on.");
    expect(await page.text()).not.toMatch(/: calls go on\.|Nothing is lost/);
    await page.close();
  });

  test("a search that has looked at as many calls as it may says how far back it came", async () => {
    const page = await open("/blank");
    const { calls } = await stage.api.send<{ calls: { startedAt: number }[] }>("GET", "/calls", {
      query: { limit: 2 },
    });
    await page.answer(({ pathname }) =>
      pathname === "/admin/v1/calls"
        ? { body: { calls, next: "x", bounded: true, searchedTo: calls[1]!.startedAt } }
        : undefined,
    );
    await page.go(`${stage.admin.url}/console/calls?q=mock`);
    await page.waitForText(/2 matches so far, back to \d+/);
    await page.waitForText("Look further back");
    await page.close();
  });

  test("bodies that are kept are read only when asked for; a broken cache says what it cost (synthetic answer)", async () => {
    const page = await open("/blank");
    const { calls } = await stage.api.send<{ calls: { id: string }[] }>("GET", "/calls", {
      query: { limit: 1 },
    });
    const [call] = calls;
    const cacheBreak = { reason: "expired", section: "", afterMs: 400_000, tokens: 1_234, cost: 5_000_000 };
    const request = '{"model":"smart","messages":[{"role":"user","content":"<b>Hello</b>"}]}';
    let looks = 0;
    await page.answer(({ pathname }) => {
      if (pathname === `/admin/v1/calls/${call!.id}`)
        return { body: { ...call, captured: true, cacheBreak } };
      if (pathname !== `/admin/v1/calls/${call!.id}/body`) return undefined;
      looks += 1;
      const parts = [{ kind: "text", text: "<b>Hello</b>" }];
      const talk = { turns: [{ role: "user", parts }], answer: [], tools: [], unread: ["answer"] };
      return { body: { id: call!.id, expiresAt: 4e12, request, answer: "data: {}", cut: ["answer"], talk } };
    });
    await page.go(`${stage.admin.url}/console/calls/${call!.id}`);
    await page.waitForText("Each look is in the audit log.");
    expect(await page.text()).toContain("1,234 tokens that the cache had were not read, for $0.005000 more");
    expect(looks).toBe(0);
    // The lines of the charge come later and move what is below them, so that a click may miss.
    await page.waitFor(
      `performance.getEntriesByType("resource").some(({ name }) => name.includes("/calls/${call!.id}/"))`,
    );
    await page.click("=Show them");
    await page.waitForText("<b>Hello</b>", ".talk");
    await page.click("=Request");
    await page.waitForText('"content": "<b>Hello</b>"');
    await page.click("=As sent back");
    await page.waitForText("Only its beginning is shown.");
    expect(looks).toBe(1);
    await page.close();
  });

  test("while weir is away the page keeps its figures, says so, and goes on by itself afterwards", async () => {
    const page = await open("/");
    await page.waitFor(`document.querySelector("${ROW}")`);
    await page.answer(({ pathname }) => (pathname.startsWith("/admin/v1/") ? "away" : undefined));
    await page.waitForText(/No word from weir for \d+ s\./);
    expect(await page.text()).toMatch(/Figures are those of \d\d:\d\d:\d\d\. Trying again( in \d+ s)?\./);
    expect(await page.evaluate<boolean>(`document.querySelector("${ROW}") !== null`)).toBe(true);
    await page.answer(undefined);
    await page.waitFor("!document.body.innerText.includes('No word from weir')");
    await page.close();
  });

  test("no page scrolls sideways at any width", async () => {
    const page = await open("/");
    const tooWide: string[] = [];
    for (const path of [
      ...PAGES,
      "/calls?range=7d&key=ci-bot",
      "/calls?from=1000000000000&to=1000003600000",
    ]) {
      await page.go(`${stage.admin.url}/console${path === "/" ? "" : path}`);
      await page.waitFor("document.querySelector('main')");
      await Bun.sleep(400);
      for (const width of WIDTHS) {
        await page.view({ width });
        await Bun.sleep(120);
        const pixels = await page.sideways();
        if (pixels > 0) tooWide.push(`${path} at ${width}: ${pixels} px`);
      }
    }
    expect(tooWide).toEqual([]);
    await page.close();
  });

  test("names that attack are text, and cut where they are too long", async () => {
    const names = [
      '<img src=x onerror="window.hit=1">',
      "</script><script>window.hit=1</script>",
      "‮eman",
      "n".repeat(4_000),
    ];
    for (const name of names) await stage.call(name);
    const page = await open("/calls?range=1h", 390);
    await page.waitForText("<img src=x");
    for (const path of [
      "/",
      "/calls",
      "/keys",
      "/calls?q=%3Cimg+src%3Dx+onerror%3D%22window.hit%3D1%22%3E",
    ]) {
      await page.go(`${stage.admin.url}/console${path}`);
      await page.waitFor("document.querySelector('main')?.innerText.length > 20");
      await Bun.sleep(300);
      expect({ path, pixels: await page.sideways() }).toEqual({ path, pixels: 0 });
    }
    expect(await page.evaluate<boolean>("'hit' in window")).toBe(false);
    await page.close();
  });
});
