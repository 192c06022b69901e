/** The page of tools in Chromium, on a gateway with a server that is up, one that changed its tools and one that is down. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, missingChromium, startBrowser } from "../../../../../test/console/browser.ts";
import type { BrowserPage } from "../../../../../test/console/browser-page.ts";
import { type Stage, startStage } from "../../../../../test/console/stage.ts";
import { definition } from "../support/servers.ts";
import { HOSTILE, startToolsStage, type ToolsStage } from "./tools-stage.ts";

setDefaultTimeout(120_000);

const CALLS = 60;

/** Cells of the table in a panel, row by row. The fraction of an amount is a piece of its own. */
const cells = (panel: string) =>
  `[...document.querySelectorAll('[aria-label="${panel}"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim().replace("\\n.", ".")))`;
const WIDE_TABLES = `[...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1).length`;

describe.skipIf(missingChromium !== undefined)(`Chromium (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: ToolsStage;
  let empty: Stage;

  beforeAll(async () => {
    [browser, stage, empty] = await Promise.all([startBrowser(), startToolsStage(CALLS), startStage()]);
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([stage?.end(), empty?.end()]);
  });

  async function open(path: string): Promise<BrowserPage> {
    const page = await stage.open(browser, path);
    await page.waitFor("document.querySelector('tbody, .empty')");
    return page;
  }

  test("servers are listed with era, version, counts and state, and why one is down", async () => {
    const page = await open("/tools");
    const rows = await page.evaluate<string[][]>(cells("Servers"));
    const at = ({ url }: { url: string }) => url;
    expect(rows.map(([name, state, ...rest]) => [name!.split("\n"), state!.split("\n"), ...rest])).toEqual([
      [
        ["files", at(stage.files)],
        ["up"],
        "modern 2026-07-28",
        "/eng, alice",
        "3",
        expect.any(String),
        "3 to approve",
      ],
      [["shop", at(stage.shop)], ["up"], "legacy 2025-11-25", "*", "4", expect.any(String), "as approved"],
      [
        ["away", "http://127.0.0.1:1/mcp"],
        ["down", "server away cannot be reached: refused the connection"],
        ...["", "alice", "–", "–", "–"],
      ],
    ]);
    expect(rows.slice(0, 2).every((row) => Number(row[5]) > 100)).toBe(true);
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("a server has its tools with calls and money, and calls lead to Calls", async () => {
    const page = await open("/tools/shop");
    await page.waitForText(".04000");
    const [search] = await page.evaluate<string[][]>(cells("Tools"));
    expect(search!.map((cell) => cell.replaceAll("\n", " "))).toEqual([
      "search Finds goods. Names, descriptions and prices are searched. query, limit, sort",
      ...["approved", expect.any(String), "$0.002000", "20", "$0.04000"],
    ]);
    await page.click('[aria-label="Tools"] tbody a');
    await page.waitForText("20 calls");
    expect(await page.evaluate<string>("location.pathname + location.search")).toBe(
      "/console/calls?provider=mcp&model=shop__search&range=month",
    );
    expect(await page.text("main")).not.toContain("files__read");
    await page.close();
  });

  test("markup, characters that do not show and long names of a server are text", async () => {
    const page = await open("/tools/shop");
    const text = await page.waitForText("tset\\u{202E}gnirts");
    for (const shown of [
      HOSTILE.markup,
      HOSTILE.long,
      `<script>window.hit=2</script><b>${HOSTILE.markup}</b>`,
    ])
      expect(text).toContain(shown);
    expect(text).not.toContain("\u202e");
    const made = await page.evaluate(
      "[window.hit ?? 0, document.querySelectorAll('main img, main script, main td b b').length]",
    );
    expect(made).toEqual([0, 0]);
    await page.waitFor("document.querySelectorAll('[aria-label=\"Tools\"] tbody a').length === 2");
    await page.click('[aria-label="Tools"] tbody tr:nth-child(2) a');
    await page.waitForText("20 calls");
    expect(await page.text("main")).toContain(`shop__${HOSTILE.markup}`);
    expect(await page.evaluate("[window.hit ?? 0, document.querySelectorAll('main img').length]")).toEqual([
      0, 0,
    ]);
    await page.close();
  });

  test("every state fits every width, in light and dark, without a serious finding of axe", async () => {
    const failure = { error: { code: "store", message: "The store did not answer within 2 s." } };
    const states: [Stage, string, string, boolean?][] = [
      [stage, "/tools", "3 to approve"],
      [stage, "/tools/files", "Not as approved"],
      [stage, "/tools/shop", ".04000"],
      [stage, "/tools/away", "No tool was seen."],
      [empty, "/tools", "No server of tools."],
      [stage, "/tools", "Servers could not be read.", true],
      [stage, "/tools/files", "Tools could not be read.", true],
    ];
    for (const [on, path, words, hasFailed] of states) {
      const page = await on.open(browser, "/blank");
      if (hasFailed)
        await page.answer(({ pathname }) =>
          pathname.startsWith("/admin/v1/tools") ? { status: 503, body: failure } : undefined,
        );
      await page.go(`${on.admin.url}/console${path}`);
      await page.waitForText(words);
      for (const width of [1440, 1024, 768, 390, 320]) {
        await page.view({ width, dark: width % 20 === 0 });
        const wide = [await page.sideways(), await page.evaluate(WIDE_TABLES)];
        expect([path, width, ...wide]).toEqual([path, width, 0, 0]);
        if (width === 1440 || width === 390)
          expect([path, width, await page.violations()]).toEqual([path, width, []]);
      }
      if (!hasFailed) expect([path, page.faults]).toEqual([path, []]);
      expect([...page.hosts]).toEqual([new URL(on.admin.url).host]);
      await page.close();
    }
  });

  test("the keyboard reaches every action", async () => {
    const page = await open("/tools");
    await page.waitForText("3 to approve");
    expect(await reached(page)).toEqual(expect.arrayContaining(["files", "shop", "away"]));
    await page.go(`${stage.admin.url}/console/tools/files`);
    await page.waitForText(".008000");
    const names = await reached(page);
    for (const name of ["Tools", "Month", "Approve…", "changed read", "gone list", "new listing", "20"])
      expect(names).toContain(name);
    await page.close();
  });

  test("what was approved without a look is not: a change meanwhile is refused, and then shown", async () => {
    const page = await open("/tools/files");
    const text = await page
      .waitForText("Lists a folder.", '[aria-label="new listing"]')
      .then(() => page.text());
    expect(text).toContain("project.\\u{E0052}\\u{E0065}");
    expect(text).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
    await page.click("=Approve…");
    await page.waitForText("Approve 3 tools of files?", "dialog");
    const more = definition("erase", { description: "Erases a folder." });
    await stage.change([...stage.files.tools, more], 4);
    await page.click("=Approve");
    await page.waitForText("Look again.", "dialog [role=alert]");
    await page.click("=Cancel");
    await page.waitForText("Erases a folder.", '[aria-label="new erase"]');
    await page.close();
  });

  test("an approval by the keyboard is done, told, and the page changes", async () => {
    const page = await open("/tools/files");
    await page.waitForText("Not as approved");
    await focus(page, "Approve…");
    await page.press("Enter");
    await page.waitForText("Approve 4 tools of files?", "dialog");
    expect(await page.evaluate("document.activeElement.innerText")).toBe("Cancel");
    await focus(page, "Approve");
    await page.press("Enter");
    await page.waitForText("Approved: ");
    await page.waitFor("!document.querySelector('main').innerText.includes('Not as approved')");
    const rows = async () =>
      (await page.evaluate<string[][]>(cells("Tools"))).map(([name, pin]) => [name!.split("\n")[0], pin]);
    await page.waitFor("document.querySelector('main').innerText.includes('erase')");
    expect((await rows()).sort()).toEqual(
      ["erase", "listing", "read", "write"].map((name) => [name, "approved"]),
    );
    await page.go(`${stage.admin.url}/console/tools`);
    await page.waitForText("legacy");
    expect(await page.text("main")).not.toContain("to approve");
    await page.close();
  });
});

const ACTIVE = `(() => { const { activeElement: it } = document;
  return it === document.body ? "" : (it.getAttribute("aria-label") ?? it.innerText).trim(); })()`;
/** More than any page of tools has. */
const MOST_STEPS = 80;

/** Names of all that Tab comes to. */
async function reached(page: BrowserPage): Promise<string[]> {
  const names: string[] = [];
  for (let step = 0; step < MOST_STEPS; step++) {
    await page.press("Tab");
    names.push(await page.evaluate<string>(ACTIVE));
  }
  return names;
}

/** Goes on by Tab. */
async function focus(page: BrowserPage, name: string): Promise<void> {
  for (let step = 0; step < MOST_STEPS; step++) {
    await page.press("Tab");
    if ((await page.evaluate<string>(ACTIVE)) === name) return;
  }
  throw new Error(`Tab does not come to ${name}`);
}
