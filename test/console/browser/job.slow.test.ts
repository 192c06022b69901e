/** An operator's work in the browser, from the first call to the revoked key. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

/** The state of a key's row, as the tree of keys says it. */
const row = (name: string) =>
  `[...document.querySelectorAll("main tr")].find((row) => row.innerText.includes("${name}"))`;

describe.skipIf(missingChromium !== undefined)(`an operator (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let page: BrowserPage;
  /** The text of the key, before and after it was rotated. */
  let first: string;
  let second: string;
  let call: { status: number; text: string; id: string };

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage()]);
    page = await stage.open(browser, "/");
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  /** Reads the key that the page shows once, copies it, and closes the dialog. */
  async function takeSecret(): Promise<string> {
    await page.waitForText("This is the only time the key is shown");
    const secret = await page.text("dialog[open] .secret code");
    expect(secret).toMatch(/^weir_sk_\w{20,}$/);
    expect(
      await page.evaluate<boolean>(
        `[...document.querySelectorAll("dialog[open] .end button")].at(-1).disabled`,
      ),
    ).toBe(true);
    await page.click("=Copy");
    await page.waitFor(`![...document.querySelectorAll("dialog[open] .end button")].at(-1).disabled`);
    await page.click("=I have stored it");
    await page.waitFor("!document.querySelector('dialog[open]')");
    expect(await page.text()).not.toContain(secret);
    return secret;
  }

  test("makes a key with a budget, and sees it once", async () => {
    await page.press("g");
    await page.press("k");
    await page.waitForText("Keys & budgets", ".top");
    await page.click("=New key");
    await page.fill("=Name", "notebook");
    await page.fill("=Budget", "$50 a month, hard");
    await page.waitForText("$50");
    await page.click("=Create");
    first = await takeSecret();
    await page.waitFor(row("notebook"));
  });

  test("spends on it, and watches the call arrive", async () => {
    await page.press("g");
    await page.press("n");
    await page.waitForText("Waiting for the first call");
    expect((await stage.call("mock/chat", { key: first })).status).toBe(200);
    await page.waitForText("live", ".top");
    await page.waitForText("mock/chat", 'section[aria-label="Just ended"]');
    const slow = stage.call("mock/slow", {
      key: first,
      stream: true,
      content: "Say a little more than usual.",
    });
    await page.waitForText("mock/slow", 'section[aria-label="Running"]');
    call = await slow;
    expect(call.status).toBe(200);
    await page.waitFor(`document.querySelector('tr[data-id="${call.id}"]')`);
    const shown = await page.evaluate<string>(`document.querySelector('tr[data-id="${call.id}"]').innerText`);
    expect(shown).toContain("notebook");
    expect(shown).toContain("$0");
    await page.waitForText(/Spent today\s+\$0\.\d/);
  });

  test("reads the call: its time, its money to the nano-dollar, its key", async () => {
    await page.click(`tr[data-id="${call.id}"]`);
    await page.waitFor(`document.querySelector('.peek [role="table"]')`);
    const shown = await page.waitForText("Price: rule", ".peek");
    expect(shown).toContain("Answered by mock");
    const entry = await stage.api.send<{ attempts: { charge: { cost: number } }[] }>(
      "GET",
      `/calls/${call.id}`,
    );
    const exact = (entry.attempts.at(-1)!.charge.cost / 1e9).toFixed(9).replace(/0+$/, "");
    expect(shown).toContain(`$${exact}`);
    await page.press("o");
    await page.waitForText(call.id, ".top h1");
  });

  test("follows a bar of Spend to its calls", async () => {
    await page.press("g");
    await page.press("s");
    const bar = `[...document.querySelectorAll("a.col")].find((bar) => /\\$0\\.\\d/.test(bar.getAttribute("aria-label")))`;
    await page.waitFor(bar);
    await page.evaluate(`(${bar}).setAttribute("data-wanted", "")`);
    await page.click("a.col[data-wanted]");
    await page.waitForText("Calls", ".top");
    await page.waitFor(`document.querySelector('tr[data-id="${call.id}"]')`);
    expect(await page.evaluate<string>("location.search")).toMatch(/from=\d+&to=\d+/);
  });

  test("rotates the key: the new text works, and the old one not any more", async () => {
    await page.press("Control+k");
    await page.type("notebook");
    await page.waitForText("notebook", "dialog[open] [role=option]");
    await page.press("Enter");
    await page.click("=Rotate…");
    await page.waitFor('document.querySelector("dialog[open] select")');
    await page.evaluate(
      `(() => { const select = document.querySelector("dialog[open] select"); select.value = "0"; select.dispatchEvent(new Event("change", { bubbles: true })); })()`,
    );
    await page.waitForText("refused at once");
    await page.click("=Rotate");
    second = await takeSecret();
    expect(second).not.toBe(first);
    expect((await stage.call("mock/chat", { key: second })).status).toBe(200);
    expect((await stage.call("mock/chat", { key: first })).status).toBe(401);
  });

  test("revokes the key after a question that says what happens", async () => {
    await page.click("=Revoke…");
    await page.waitForText("A revoked key cannot be brought back", "dialog[open]");
    expect(await page.evaluate<string>("document.activeElement.innerText")).toBe("Cancel");
    await page.click("=Revoke notebook");
    await page.waitForText("Revoked", "main");
    expect((await stage.call("mock/chat", { key: second })).status).toBe(401);
  });

  test("reaches every page by the keyboard or a click; axe finds nothing serious on it", async () => {
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".nav a")].map((link) => link.pathname)`,
    );
    expect(links.length).toBeGreaterThan(10);
    for (const link of [...links, `/console/calls/${call.id}`]) {
      await page.go(stage.admin.url + link);
      await page.waitFor(
        "document.querySelector('main')?.innerText.length > 20 && !document.querySelector('[aria-busy=true]')",
      );
      expect({ link, violations: await page.violations() }).toEqual({ link, violations: [] });
    }
  });

  test("sees the books balance, and the browser no error and no other host", async () => {
    expect(await page.text(".side")).toContain("Books balance");
    expect([...page.hosts]).toEqual([new URL(stage.admin.url).host]);
    expect(page.faults).toEqual([]);
  });
});
