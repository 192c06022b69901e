/** Budgets that a session may not see or change: what it learns of them, and where they are changed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Calls } from "../../../src/operator/index.ts";
import { until } from "../../helpers/serving.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

/** Too little for any call. Dollars. */
const ABOVE = 0.0000123;

describe.skipIf(missingChromium !== undefined)(`budgets (${missingChromium ?? "in a browser"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let reader = "";
  let id = "";

  beforeAll(async () => {
    const budgets = { "whole-firm": { on: "all", limit: ABOVE, every: "month", mode: "hard" } };
    [browser, stage] = await Promise.all([startBrowser(), startStage({ config: { budgets } })]);
    const make = (body: object) => stage.api.send<{ secret: string }>("POST", "/keys", { body });
    const { secret } = await make({ name: "worker", path: "/eng" });
    reader = (await make({ name: "looker", kind: "read", path: "/eng" })).secret;
    id = (await stage.call("mock/chat", { key: secret })).id;
    const isKept = async () => (await stage.api.send<Calls>("GET", "/calls?refused=budget")).calls.length > 0;
    expect(await until(isKept, 10_000)).toBe(true);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${stage.admin.url}/admin/v1${path}`, {
      headers: { authorization: `Bearer ${reader}`, ...headers },
    });
    return { status: response.status, text: await response.text() };
  };
  const opened = (path: string) =>
    browser.open(`${stage.admin.url}/console${path}`, {
      ...{ isolated: true, headers: { authorization: `Bearer ${reader}` } },
    });
  /** Dollars of the budget, and nano-dollars. */
  const AMOUNT = /0\.0000123|\b12300\b|1\.23e-5/;

  test("S5: a reader of a path learns that a budget above it refused a call, and none of its amounts", async () => {
    const call = await ask(`/calls/${id}`);
    expect(call.status).toBe(200);
    const { refusedBy, facts } = JSON.parse(call.text) as {
      refusedBy: object;
      facts: { label: string; text: string }[];
    };
    expect(Object.keys(refusedBy).toSorted()).toEqual(["id", "kind", "name", "until"]);
    expect(facts.find(({ label }) => label === "Refused by")!.text).toBe("budget whole-firm");
    for (const path of [`/calls/${id}`, "/calls?facts=true", "/calls?refused=budget"]) {
      const { status, text } = await ask(path);
      expect([path, status, text.includes("whole-firm")]).toEqual([path, 200, true]);
      expect(text).not.toMatch(AMOUNT);
    }
    // Who sees the whole gateway sees them.
    const whole = JSON.stringify(await stage.api.send<Calls>("GET", `/calls?id=${id}`));
    expect(whole).toMatch(AMOUNT);
  });

  test("S5: the page of that reader has no amount, and no way to raise the budget; the CSV has none either", async () => {
    const page = await opened(`/calls/${id}`);
    const said = await page.waitForText("Refused by the budget whole-firm", ".say");
    expect(said).toContain("whose amounts this session may not see");
    expect(said).not.toContain("Raise");
    expect(await page.text("main")).not.toMatch(/\$0\.0000|0\.0000123/);
    await page.go(`${stage.admin.url}/console/calls?refused=budget`);
    await page.waitFor("document.querySelector('tr[data-id]')");
    await page.evaluate(
      `URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#"; }`,
    );
    await page.click("=CSV");
    await page.waitFor("window.saved");
    const csv = await page.evaluate<string>("window.saved");
    expect(csv).toContain("whole-firm");
    expect(csv).not.toMatch(AMOUNT);
    await page.close();
  });

  test("M10: Raise on a budget of the config says where it is changed", async () => {
    const page = await stage.open(browser, "/keys");
    await page.click("=Raise whole-firm");
    const said = await page.waitForText("The config file declares this budget.", "dialog[open]");
    expect(said).toContain("budgets.whole-firm.limit");
    expect(said).toContain("weir reload");
    expect(await page.evaluate<number>("document.querySelectorAll('dialog[open] input').length")).toBe(0);
    expect(await page.violations()).toEqual([]);
    await page.press("Escape");
    await page.waitFor("!document.querySelector('dialog[open]')");
    // From a link, too: the notes of the first page, and a call that it refused.
    const { calls } = await stage.api.send<Calls>("GET", `/calls?id=${id}`);
    await page.go(`${stage.admin.url}/console/calls/${calls[0]!.id}`);
    await page.click("=Raise");
    await page.waitForText("budgets.whole-firm.limit", "dialog[open]");
    await page.click("=page Config");
    await page.waitFor("location.pathname.endsWith('/config')");
    expect(page.faults).toEqual([]);
    await page.close();
  });
});
