/** S11: a key is changed in one dialog, and a change of another operator loses nothing that was typed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Budget, CreatedKey, Key, Rate } from "../../../src/operator/index.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

describe.skipIf(missingChromium !== undefined)(`a key (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let page: BrowserPage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage()]);
    page = await stage.open(browser, "/keys");
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  const read = <Answer>(path: string) => stage.api.send<Answer>("GET", path);
  const keyNow = (name: string) => read<Key>(`/keys/${name}`);
  const dialogClosed = () => page.waitFor("!document.querySelector('dialog[open]')");
  const open = async (name: string) => {
    await page.go(`${stage.admin.url}/console/keys/${name}`);
    await page.click("=Edit…");
  };

  test("S11, change 16: a new key has tags, limits of tokens, and a most for one call", async () => {
    await page.click("=New key");
    await page.fill("=Name", "alice");
    await page.fill("=Tags", "web, research");
    await page.fill("=Tokens a minute", "90,000");
    await page.fill("=Calls at once", "4");
    await page.fill("=Most a call may cost", "$0.50");
    await page.click("=Create");
    await page.click("=Copy");
    await page.click("=I have stored it");
    await dialogClosed();
    expect(await keyNow("alice")).toMatchObject({
      ...{ tags: ["web", "research"], scopes: { maxCost: 500_000_000 } },
    });
    const { rates } = await read<{ rates: Rate[] }>("/rates");
    expect(rates.find(({ name }) => name === "alice")!.limits).toEqual({ tpm: 90_000, concurrency: 4 });
  });

  test("S11, change 16: every field of a key is changed in one dialog, and holds", async () => {
    await open("alice");
    await page.fill("=Name", "alice-2");
    await page.fill("=Path", "/eng/alice");
    await page.fill("=May use models", "mock/chat");
    await page.fill("=Tags", "research");
    await page.fill("=Calls a minute", "60");
    await page.fill("=Budget", "$9 a week, soft");
    await page.fill("=Ends", "30 d");
    await page.click("=Save");
    await dialogClosed();
    const key = await keyNow("alice-2");
    expect(key).toMatchObject({
      ...{ path: "/eng/alice", tags: ["research"] },
      scopes: { models: ["mock/chat"], maxCost: 500_000_000 },
    });
    expect(key.expiresAt! - Date.now()).toBeWithin(29.9 * 86_400_000, 30 * 86_400_000 + 1);
    const { rates } = await read<{ rates: Rate[] }>("/rates");
    expect(rates.find(({ on }) => on.what === key.id)!.limits).toEqual({
      rpm: 60,
      tpm: 90_000,
      concurrency: 4,
    });
    const { budgets } = await read<{ budgets: Budget[] }>("/budgets");
    expect(budgets.find(({ on }) => on.what === key.id)).toMatchObject({
      ...{ limit: 9_000_000_000, window: "week", mode: "soft" },
    });
  });

  test("S11, change 16: a field that is emptied takes the limit away", async () => {
    await open("alice-2");
    for (const label of ["May use models", "Budget", "Ends"]) {
      await page.fill(`=${label}`, "");
      await page.press("Backspace");
    }
    await page.waitForText("Its own budget is deleted.");
    await page.click("=Save");
    await dialogClosed();
    const key = await keyNow("alice-2");
    expect(key.expiresAt).toBeUndefined();
    expect(key.scopes).toEqual({ maxCost: 500_000_000 });
    const { budgets } = await read<{ budgets: Budget[] }>("/budgets");
    expect(budgets.find(({ on }) => on.what === key.id)).toBeUndefined();
  });

  test("S11, change 16: a key that was changed meanwhile says so, and what was typed is kept", async () => {
    await open("alice-2");
    await page.fill("=May use models", "mock/echo");
    const { id } = await keyNow("alice-2");
    await stage.api.send("PATCH", `/keys/${id}`, { body: { tags: ["night"] } });
    await page.click("=Save");
    await page.waitForText("This key was changed meanwhile. Tags: night.");
    expect((await keyNow(id)).scopes.models).toBeUndefined();
    const texts = await page.evaluate<string[]>(
      `[...document.querySelectorAll("dialog[open] input")].map(({ value }) => value)`,
    );
    expect(texts).toContain("mock/echo");
    expect(texts).toContain("night");
    await page.click("=Save");
    await dialogClosed();
    expect(await keyNow(id)).toMatchObject({ tags: ["night"], scopes: { models: ["mock/echo"] } });
  });

  test("S11, change 16: a budget that fails leaves the form open, and only that is sent again", async () => {
    await open("alice-2");
    await page.fill("=Tags", "day");
    await page.fill("=Budget", "$3 a day, hard");
    const { id } = await keyNow("alice-2");
    await stage.api.send("POST", "/budgets", {
      body: { name: "alice-2", on: { kind: "all", what: "" }, limit: 1e12 },
    });
    await page.click("=Save");
    await page.waitFor(`document.querySelector("dialog[open] [role=alert]")`);
    expect((await keyNow(id)).tags).toEqual(["day"]);
    await stage.api.send("DELETE", "/budgets/alice-2");
    await page.click("=Save");
    await dialogClosed();
    const { budgets } = await read<{ budgets: Budget[] }>("/budgets");
    expect(budgets.map(({ on, limit }) => [on.what, limit])).toEqual([[id, 3_000_000_000]]);
  });

  test("S11, change 16: a key that reads is edited without the limits of calls", async () => {
    await stage.api.send<CreatedKey>("POST", "/keys", { body: { name: "fin", kind: "read", path: "/" } });
    await open("fin");
    await page.waitForText("Edit fin");
    expect(await page.text("dialog[open]")).not.toContain("Budget");
    await page.fill("=Tags", "office");
    await page.click("=Save");
    await dialogClosed();
    expect((await keyNow("fin")).tags).toEqual(["office"]);
  });
});
