/** Small truths: what each page says of audit entries, sums, prices, names, empty pages, the config and times. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Budget, Key } from "../../../src/operator/index.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const MANY = 30;
const provider = (n: number) => ({
  ...{ baseUrl: `http://127.0.0.1:9/v${n}`, speaks: "chat-completions", models: [`m${n}`], apiKey: "k" },
});
const providers = Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`host-${n}`, provider(n)]));
const CONFIG = { prices: {}, routes: {}, providers };

describe.skipIf(missingChromium !== undefined)(`truths (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let empty: Stage;
  let page: BrowserPage;

  beforeAll(async () => {
    [browser, stage, empty] = await Promise.all([
      startBrowser(),
      startStage({ config: CONFIG }),
      startStage(),
    ]);
    page = await stage.open(browser, "/");
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([stage?.end(), empty?.end()]);
  });

  const show = (path: string) => page.go(`${stage.admin.url}/console${path}`);
  const keyNamed = async (name: string) => {
    const { keys } = await stage.api.send<{ keys: Key[] }>("GET", "/keys?revoked=true");
    return keys.find((key) => key.name === name)!;
  };
  const firstEntry = async () => {
    await show("/store");
    await page.waitForText("Who did what");
    await page.waitFor(`document.querySelector(".log tbody tr")`);
    return page.text(".log tbody tr");
  };

  test("M15, M19: an audit entry says what was done to a key named Jürgen, and by the command line", async () => {
    stage.createKey("Jürgen", "--tag", "a", "--tag", "b");
    const { id, tags } = await keyNamed("Jürgen");
    expect(tags).toEqual(["a", "b"]);
    expect(await firstEntry()).toContain("made the key “Jürgen”");
    await stage.api.send("PATCH", `/keys/${id}`, { body: { tags: ["c"] } });
    expect(await firstEntry()).toContain("changed tags of the key “Jürgen”");
    await stage.api.send("PATCH", `/keys/${id}`, { body: { scopes: { models: ["mock/*"] } } });
    expect(await firstEntry()).toContain("changed models of the key “Jürgen”");
    await stage.api.send("POST", `/keys/${id}/rotate`, { body: {} });
    expect(await firstEntry()).toContain("rotated the key “Jürgen”");
    await show(`/keys/${id}`);
    expect(await page.waitForText(/made\s+.* by /)).toContain("by the command line");
    expect(stage.run("keys", "revoke", "Jürgen", "--yes").code).toBe(0);
    const entry = await firstEntry();
    expect(entry).toContain("revoked the key “Jürgen”");
    expect(entry).toContain("the command line");
    expect(entry).not.toContain("run-file");
  });

  test("M15: a raised limit is said with both amounts, and the difference has no other member", async () => {
    const made = await stage.api.send<Budget>("POST", "/budgets", {
      body: { name: "all", on: { kind: "all", what: "" }, limit: 2e12, window: "month", mode: "watch" },
    });
    await stage.api.send("PATCH", `/budgets/${made.id}`, { body: { limit: 3e12 } });
    expect(await firstEntry()).toContain("raised the limit of the budget “all” from $2,000.00 to $3,000.00");
    await page.evaluate(`document.querySelector(".log tbody tr").click()`);
    await page.waitForText("3,000.00", ".diff");
    const signs = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".diff .del, .diff .add")].map((line) => line.innerText.trim())`,
    );
    expect(signs.map((line) => line.replace(/\s+/g, " "))).toEqual([
      '- "limit": "$2,000.00",',
      '+ "limit": "$3,000.00",',
    ]);
  });

  test("M16: the proof of the books says nothing spent as the other pages do", async () => {
    await show("/store");
    await page.waitForText("The books balance");
    const text = await page.text('[aria-label="The books"]');
    expect(text).toContain("$0");
    expect(text).not.toContain("$0.00");
  });

  test("M18: the price of the mock is said to be weir's, and no vendor's", async () => {
    const { secret } = await stage.api.send<{ secret: string }>("POST", "/keys", { body: { name: "mock" } });
    expect((await stage.call("mock/chat", { key: secret })).status).toBe(200);
    await show("/prices");
    await page.waitFor(`document.querySelector('[aria-label="In use"] tbody tr')`);
    await page.waitForText("weir", '[aria-label="In use"] tbody');
    const row = await page.text('[aria-label="In use"] tbody tr');
    expect(row).toContain("mock/chat");
    expect(row).not.toMatch(/litellm|unpriced/);
    expect(await page.text("main")).toContain("Every model that was used has a price.");
  });

  test("M18: what weir answered from its cache is free, not unpriced (an answer with such a row)", async () => {
    const row = { calls: 3, failed: 0, refused: 0, attempts: 3, input: 9, output: 9, cacheRead: 0 };
    const rest = { cacheWrite: 0, cacheWrite1h: 0, reasoning: 0, searches: 0, cost: 0, reported: 0 };
    const sums = { ...row, ...rest, estimated: 0, assumed: 0, untiered: 0, unpriced: 0, ms: 1, firstMs: 1 };
    const faked = await stage.open(browser, "/blank");
    await faked.answer(({ pathname }) =>
      pathname === "/admin/v1/usage"
        ? {
            status: 200,
            body: {
              rows: [{ ...sums, group: { provider: "response-cache", model: "gpt-5.4" } }],
              total: sums,
            },
          }
        : undefined,
    );
    await faked.go(`${stage.admin.url}/console/prices`);
    await faked.waitForText("free", '[aria-label="In use"]');
    expect(await faked.text('[aria-label="In use"] tbody')).not.toContain("unpriced");
    await faked.close();
  });

  test("M19: a name that is none is refused in words", () => {
    const { code, output } = stage.run("keys", "create", "a b!");
    expect(code).toBe(1);
    expect(output).toContain("letters of any script");
    expect(output).not.toMatch(/\\w|\^|\[/);
  });

  test("M22: empty Calls and Spend have the command that makes a call, and no model has a price yet", async () => {
    const bare = await empty.open(browser, "/calls");
    await bare.waitForText("No call yet.");
    expect(await bare.text("main")).toContain(`curl -N ${empty.url}/v1/chat/completions`);
    expect(await bare.text("main")).not.toContain("Show the hour before");
    await bare.go(`${empty.admin.url}/console/spend`);
    await bare.waitForText("No call yet.");
    expect(await bare.text("main")).toContain(`curl -N ${empty.url}/v1/chat/completions`);
    await bare.go(`${empty.admin.url}/console/prices`);
    await bare.waitForText("No model was used yet.");
    expect(await bare.text("main")).not.toContain("Every model that was used has a price.");
    await empty.call("mock/chat");
    await bare.go(`${empty.admin.url}/console/calls?from=1&to=2`);
    await bare.waitForText("Show the hour before");
    expect(await bare.text("main")).not.toContain("curl");
    expect(bare.faults).toEqual([]);
    await bare.close();
  });

  test("M24: a section of the config has a line for each member, and a change shows that member alone", async () => {
    const next = { ...providers, "host-7": { ...provider(7), models: ["other"] } };
    stage.configure(
      JSON.stringify({ ...CONFIG, providers: next, admin: { port: Number(new URL(stage.admin.url).port) } }),
    );
    await show("/config");
    await page.waitForText("differs from what runs");
    const diff = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".diff > span")].map((line) => line.innerText.replace(/\\s+/g, " ").trim())`,
    );
    expect(diff).toContain("- models: [m7]");
    expect(diff).toContain("+ models: [other]");
    expect(diff.length).toBeLessThan(12);
    expect(Math.max(...diff.map(({ length }) => length))).toBeLessThan(80);
    const longest = await page.evaluate<number>(
      `Math.max(...[...document.querySelectorAll(".options pre")].flatMap((one) => one.innerText.split("\\n").map((line) => line.length)))`,
    );
    expect(longest).toBeLessThan(100);
    expect(await page.sideways()).toBe(0);
    expect(page.faults).toEqual([]);
  });

  test("M25: bars say that their days are UTC, and the local time of a call has UTC beside it", async () => {
    await show("/spend");
    await page.waitForText("days are UTC", ".key");
    await show("/calls");
    await page.waitFor(`document.querySelector("main tr[data-id] time")`);
    expect(await page.evaluate<string>(`document.querySelector("main tr[data-id] time").title`)).toMatch(
      / UTC$/,
    );
  });
});
