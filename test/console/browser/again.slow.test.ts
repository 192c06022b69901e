/** A captured call is sent again in the page: the way there, the price before, the answers side by side, and what is refused. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../helpers/serving.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const HOSTILE = "<img src=x onerror=\"document.title='taken'\">";
const SEND = "main form button[type=submit]";

interface Listed {
  calls: { id: string; model: string; replayOf?: string; key?: string; outcome: string }[];
}

async function say(stage: Stage, body: object, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${stage.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "mock/echo", ...body }),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  await until(async () => (await stage.api.send("GET", `/calls/${id}`).catch(() => undefined)) !== undefined);
  return id;
}

const user = (content: string) => ({ messages: [{ role: "user", content }] });

describe.skipIf(missingChromium !== undefined)(`send again (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage({ config: { capture: { share: 1 } } })]);
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  const replays = async (id: string) => (await stage.api.send<Listed>("GET", `/calls?replayOf=${id}`)).calls;
  /** The answers have their records. */
  const booked = (page: BrowserPage, count: number) =>
    page.waitFor(`document.querySelectorAll(".versions dl").length === ${count}`);

  test("change 9, task 6: from a call to another model's answer in four clicks, with the price before", async () => {
    const id = await say(stage, { ...user(`Repair the boat. ${HOSTILE}`), stream: true });
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText("Send again…");
    await page.click("=Send again…");
    await page.waitForText(/May cost up to \$/, ".estimate");
    await page.waitForText("Repair the boat", ".versions");
    await page.fill("main form input[list]", "mock/chat");
    await page.waitForText("mock/chat. May cost up to", ".estimate");
    await page.click(SEND);
    await booked(page, 2);
    const text = await page.text(".versions");
    expect(text).toContain("mock/chat");
    expect(text).toMatch(/Cost\s+\$0\.0/);
    expect(await page.evaluate<number>("document.querySelectorAll('main img').length")).toBe(0);
    expect(await page.evaluate<string>("document.title")).not.toContain("taken");
    expect(await page.violations()).toEqual([]);
    const [call, ...more] = await replays(id);
    expect([call?.model, call?.replayOf, more.length]).toEqual(["mock/chat", id, 0]);
    await page.click("=Differences");
    await page.waitForText("Repair the boat", ".diff .del");
    // Back at the new call, the page knows where it came from.
    await page.go(`${stage.admin.url}/console/calls/${call!.id}`);
    await page.waitForText("Compare with the first call");
    expect(await page.text("main")).toContain("Sends again");
    await page.close();
  });

  test("change 9: three models side by side; two clicks at once are one call each", async () => {
    const id = await say(stage, user("One of three"));
    const page = await stage.open(browser, `/resend/${id}?models=mock/echo|mock/chat|mock/reason`);
    await page.waitForText(/May cost up to[\s\S]*May cost up to[\s\S]*May cost up to/);
    expect(
      await page.evaluate<boolean>(
        "![...document.querySelectorAll('button')].some(b => b.textContent.includes('Another model'))",
      ),
    ).toBe(true);
    await page.waitForText("Send 3 calls");
    await page.evaluate(`(() => { const b = document.querySelector("${SEND}"); b.click(); b.click(); })()`);
    await booked(page, 4);
    expect((await replays(id)).map(({ model }) => model).sort()).toEqual([
      "mock/chat",
      "mock/echo",
      "mock/reason",
    ]);
    await page.click("=Differences");
    await page.waitForText("The same as the first answer.");
    expect(await page.sideways()).toBe(0);
    await page.view({ width: 390, height: 844 });
    expect(await page.sideways()).toBe(0);
    // And once more: the guard lets the next sending through.
    await page.click(SEND);
    await until(async () => (await replays(id)).length === 6);
    expect((await replays(id)).length).toBe(6);
    await page.close();
  });

  test("change 9: what cannot be sent again says why, and what to do", async () => {
    const hidden = await say(stage, user("Hello"), { "x-weir-capture": "no" });
    const page = await stage.open(browser, `/calls/${hidden}`);
    await page.waitForText("Send again…");
    const why = await page.evaluate<[boolean, string]>(
      "(() => { const b = [...document.querySelectorAll('button')].find(b => b.textContent === 'Send again…'); return [b.disabled, b.title]; })()",
    );
    expect(why).toEqual([true, expect.stringContaining("did not keep what this call asked")]);
    await page.go(`${stage.admin.url}/console/resend/${hidden}`);
    await page.waitForText("This call cannot be sent again.");
    const long = await say(stage, user("word ".repeat(20_000)));
    await page.go(`${stage.admin.url}/console/resend/${long}`);
    await page.waitForText("Only the first 65,536 characters");
    await page.close();
  });

  test("change 9: an unknown model is said before; tools of the client are said not to run", async () => {
    const tools = [{ type: "function", function: { name: "sink_ship", parameters: { type: "object" } } }];
    const id = await say(stage, { ...user("Use a tool"), tools });
    const page = await stage.open(browser, `/resend/${id}?models=nowhere-9|mock/echo`);
    await page.waitForText(/It would get 404/);
    const text = await page.text("main");
    expect(text).toContain("sink_ship");
    expect(text).toContain("do not run");
    await page.close();
  });

  test("change 9: tools that weir would run again need a word; a call whose key is gone needs another one", async () => {
    const id = await say(stage, user("Hello"));
    const page = await stage.open(browser, "/blank");
    const plan = await stage.api.send<object>("POST", `/calls/${id}/replay/explain`, { body: {} });
    const own = await stage.api.send<object>("GET", `/calls/${id}`);
    await page.answer(({ pathname }) => {
      if (pathname.endsWith("/replay/explain")) return { body: { ...plan, runs: ["shop__order"] } };
      if (pathname === `/admin/v1/calls/${id}`) return { body: { ...own, key: "key_gone", keyName: "gone" } };
      if (pathname === "/admin/v1/overview") return { body: { open: false, notes: [] } };
      return undefined;
    });
    await page.go(`${stage.admin.url}/console/resend/${id}`);
    await page.waitForText("let weir run tools again: shop__order");
    const why = () => page.evaluate<string>(`document.querySelector("${SEND}").title`);
    await page.waitFor(`document.querySelector("${SEND}").title.startsWith("Choose the key")`);
    await page.answer(({ pathname }) =>
      pathname.endsWith("/replay/explain") ? { body: { ...plan, runs: ["shop__order"] } } : undefined,
    );
    await page.go(`${stage.admin.url}/console/resend/${id}`);
    await page.waitForText("let weir run tools again: shop__order");
    await page.waitFor(`document.querySelector("${SEND}").title.includes("tools again")`);
    await page.click("main form input[type=checkbox]");
    await page.waitFor(`!document.querySelector("${SEND}").disabled`);
    expect(await why()).toBe("");
    expect(await replays(id)).toEqual([]);
    await page.close();
  });

  test("change 9: a read key may look, not send", async () => {
    const id = await say(stage, user("Hello"));
    const { secret } = await stage.api.send<{ secret: string }>("POST", "/keys", {
      body: { name: "looker", kind: "read" },
    });
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const response = await fetch(`${stage.admin.url}/admin/v1/calls/${id}/replay`, {
      ...{ method: "POST", headers, body: "{}" },
    });
    expect(response.status).toBe(403);
    expect(await replays(id)).toEqual([]);
  });
});
