/** Keepers and nodes that end while people look: the page says what it knows, goes on by itself, and no one is signed out. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingPostgres, startPostgres, type TestPostgres } from "../../helpers/postgres.ts";
import { freePort, serve, type Serving, until } from "../../helpers/serving.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { askModel } from "../../books/running.ts";

setDefaultTimeout(180_000);

const HOUR_MS = 3_600_000;
const SIGNED_OUT = "You are signed out";
const SILENT = "No word from weir";
const isIn = async (page: BrowserPage) =>
  (await page.evaluate<number>(`fetch("/admin/v1/session").then(({ status }) => status, () => 0)`)) === 200;

/** The link that `weir console` prints. */
async function linkOf(gateway: Serving): Promise<string> {
  let link: string | undefined;
  await until(
    () => (link = /http:\S+#t=[\w-]+/.exec(gateway.run("console").output)?.[0]) !== undefined,
    30_000,
  );
  return link!;
}

/** Reads figures from now on, and nothing else than figures. */
async function comesBack(page: BrowserPage): Promise<void> {
  const isBack = async () => {
    const text = await page.text();
    return !text.includes(SILENT) && text.includes("mock/chat");
  };
  expect(await until(isBack, 60_000)).toBe(true);
  expect(await page.text()).not.toContain(SIGNED_OUT);
}

describe.skipIf(missingChromium !== undefined)(`outages (${missingChromium ?? "present"})`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
  });

  describe("one gateway with SQLite", () => {
    const state = mkdtempSync(join(tmpdir(), "weir-outages-"));
    const port = freePort();
    const calls = freePort();
    let gateway: Serving;
    const start = () =>
      serve({ workers: 2, port: calls, config: JSON.stringify({ admin: { port }, state }) });

    beforeAll(async () => {
      gateway = await start();
      await (await askModel(gateway.url, "mock/chat")).text();
    });

    afterAll(async () => {
      await gateway?.end();
      rmSync(state, { recursive: true, force: true });
    });

    /** The first two tabs share a window, so that one of them is behind. */
    async function twoTabs(): Promise<BrowserPage[]> {
      const page = await browser.open((await linkOf(gateway)).replace("/console", "/console/calls"));
      await page.waitForText("mock/chat");
      const other = await browser.open(`http://127.0.0.1:${port}/console/calls`);
      await other.waitForText("mock/chat");
      return [page, other];
    }

    test("S9, S8: while the keeper is away the page keeps its figures and says so; calls go on", async () => {
      const tabs = await twoTabs();
      const keeper = gateway.keeper()!;
      process.kill(keeper, "SIGSTOP");
      await tabs[1]!.click('.side a[href="/console/spend"]');
      await tabs[1]!.click('.side a[href="/console/calls"]');
      expect((await askModel(gateway.url, "mock/chat")).status).toBe(200);
      await tabs[1]!.waitForText(new RegExp(`${SILENT}|does not answer`));
      expect(await tabs[1]!.text()).not.toMatch(/: calls go on|Nothing is lost/);
      // The gateway replaces a keeper that hangs.
      expect(await until(() => (gateway.keeper() ?? keeper) !== keeper, 60_000)).toBe(true);
      for (const tab of tabs) await comesBack(tab);
      for (const tab of tabs) await tab.close();
    });

    test("S9: who signed in an hour ago stays so when keeper and gateway are killed and start again", async () => {
      const tabs = await twoTabs();
      const keeper = gateway.keeper()!;
      const sessions = new Database(join(state, "weir.db"));
      expect(
        sessions.run("UPDATE console_sessions SET until_at = until_at - ?", [HOUR_MS]).changes,
      ).toBeGreaterThan(0);
      sessions.close();
      process.kill(keeper, "SIGKILL");
      expect(await until(() => (gateway.keeper() ?? keeper) !== keeper, 60_000)).toBe(true);
      for (const tab of tabs) await comesBack(tab);

      gateway.signalGroup("SIGKILL");
      await gateway.exited;
      await gateway.end();
      await tabs[1]!.click('.side a[href="/console/spend"]');
      await tabs[1]!.waitForText(new RegExp(`${SILENT}|does not answer`));
      expect(await tabs[1]!.text()).not.toMatch(new RegExp(`${SIGNED_OUT}|: calls go on|Nothing is lost`));
      gateway = await start();
      for (const tab of tabs) await comesBack(tab);
      for (const tab of tabs) expect(await isIn(tab)).toBe(true);
      for (const tab of tabs) await tab.close();
    });
  });

  describe.skipIf(missingPostgres !== undefined)("two nodes with one PostgreSQL", () => {
    let server: TestPostgres;
    let nodes: Serving[] = [];
    const ports = [freePort(), freePort()];

    beforeAll(async () => {
      server = await startPostgres();
      const url = await server.createDatabase();
      for (const port of ports) {
        const config = { admin: { port }, state: "state", store: { url } };
        nodes.push(await serve({ workers: 2, config: JSON.stringify(config) }));
      }
    });

    afterAll(async () => {
      await Promise.all(nodes.map((node) => node.end()));
      await server?.stop();
    });

    test("S9: who signed in at one node reads the page of the other, also when the first is killed", async () => {
      const [one, two] = nodes;
      await (await askModel(two!.url, "mock/chat")).text();
      const first = await browser.open((await linkOf(one!)).replace("/console", "/console/calls"));
      await first.waitForText("mock/chat");
      const second = await browser.open(`http://127.0.0.1:${ports[1]}/console/calls`);
      await second.waitForText("mock/chat");
      one!.signalGroup("SIGKILL");
      await one!.exited;
      await second.click('.side a[href="/console/spend"]');
      await second.waitForText("mock");
      expect(await isIn(second)).toBe(true);
      await second.go(`http://127.0.0.1:${ports[1]}/console/calls`);
      await second.waitForText("mock/chat");
      expect(await second.text()).not.toContain(SIGNED_OUT);
      for (const tab of [first, second]) await tab.close();
    });
  });
});
