/** Who is signed in stays so: over the death of keeper and gateway, and at another node of the same store. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingPostgres, startPostgres, type TestPostgres } from "../../helpers/postgres.ts";
import { freePort, serve, type Serving, until } from "../../helpers/serving.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";

setDefaultTimeout(120_000);

const SIGNED_OUT = "You are signed out";
const isIn = async (page: BrowserPage) =>
  (await page.evaluate<number>(`fetch("/admin/v1/session").then(({ status }) => status, () => 0)`)) === 200;

/** The link that `weir console` prints. */
async function linkOf(gateway: Serving): Promise<string> {
  let link: string | undefined;
  await until(() => {
    link = /http:\S+#t=[\w-]+/.exec(gateway.run("console").output)?.[0];
    return link !== undefined;
  }, 30_000);
  return link!;
}

describe.skipIf(missingChromium !== undefined)(`Chromium (${missingChromium ?? "present"})`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
  });

  describe("one gateway", () => {
    const state = mkdtempSync(join(tmpdir(), "weir-sign-in-"));
    const port = freePort();
    let gateway: Serving;
    const start = () => serve({ workers: 2, config: JSON.stringify({ admin: { port }, state }) });

    beforeAll(async () => {
      gateway = await start();
    });

    afterAll(async () => {
      await gateway?.end();
      rmSync(state, { recursive: true, force: true });
    });

    test("S9: keeper killed, gateway killed, both restarted: two tabs come back, signed in", async () => {
      const link = await linkOf(gateway);
      const page = await browser.open(link);
      expect(await until(() => isIn(page), 20_000)).toBe(true);
      const other = await browser.open(`http://127.0.0.1:${port}/console/calls`);
      expect(await until(() => isIn(other), 20_000)).toBe(true);

      const keeper = gateway.keeper()!;
      process.kill(keeper, "SIGKILL");
      expect(await until(() => (gateway.keeper() ?? keeper) !== keeper, 30_000)).toBe(true);
      for (const tab of [page, other]) expect(await until(() => isIn(tab), 30_000)).toBe(true);

      gateway.signalGroup("SIGKILL");
      await gateway.exited;
      await gateway.end();
      // A tab that is not in front asks nothing by itself.
      await page.click('.side a[href="/console/spend"]');
      await page.waitForText(/No word from weir|does not answer/);
      expect(await page.text()).not.toContain(SIGNED_OUT);
      gateway = await start();
      for (const tab of [page, other]) expect(await until(() => isIn(tab), 30_000)).toBe(true);
      expect(await until(async () => !(await page.text()).includes("No word from weir"), 60_000)).toBe(true);
      for (const tab of [page, other]) expect(await tab.text()).not.toContain(SIGNED_OUT);
      await other.close();
      await page.close();
    });

    test("M20: the frame says who is signed in and where calls go, and signs out", async () => {
      const page = await browser.open(await linkOf(gateway), { isolated: true });
      await page.waitForText("Signed in as console", ".foot");
      const foot = await page.text(".foot");
      expect(foot).toContain("changes /");
      expect(foot).toContain(new URL(gateway.url).host);
      expect(foot).toMatch(/weir \d+\.\d+\.\d+/);
      expect(foot).not.toContain(`:${port}`);
      await page.click("=Sign out");
      await page.waitForText("weir console", "dialog[open]");
      expect(await isIn(page)).toBe(false);
      await page.close();
    });

    test("S9: the signed-out dialog has the command to copy, and takes the link that it prints", async () => {
      const page = await browser.open(`http://127.0.0.1:${port}/console`);
      await until(() => isIn(page), 5_000);
      await page.evaluate(
        `fetch("/admin/v1/session", { method: "DELETE", headers: { "x-weir-console": "1" } })`,
      );
      await page.go(`http://127.0.0.1:${port}/console`);
      await page.waitForText("weir console", "dialog[open]");
      await page.click("=Copy the command");
      await page.fill("=Key or sign-in link", await linkOf(gateway));
      await page.click("=Sign in");
      await page.waitFor("!document.querySelector('dialog[open]')");
      expect(await isIn(page)).toBe(true);
      await page.close();
    });
  });

  describe.skipIf(missingPostgres !== undefined)("two nodes with one PostgreSQL", () => {
    let server: TestPostgres;
    let nodes: Serving[] = [];
    const ports = [freePort(), freePort()];

    beforeAll(async () => {
      server = await startPostgres();
      const url = await server.createDatabase();
      for (const port of ports)
        nodes.push(
          await serve({
            workers: 2,
            config: JSON.stringify({ admin: { port }, state: "state", store: { url } }),
          }),
        );
    });

    afterAll(async () => {
      await Promise.all(nodes.map((node) => node.end()));
      await server?.stop();
    });

    test("S9: a session of one node is one of the other, and its end too", async () => {
      const page = await browser.open(await linkOf(nodes[0]!));
      expect(await until(() => isIn(page), 20_000)).toBe(true);
      await page.go(`http://127.0.0.1:${ports[1]}/console`);
      expect(await isIn(page)).toBe(true);
      await page.evaluate(
        `fetch("/admin/v1/session", { method: "DELETE", headers: { "x-weir-console": "1" } })`,
      );
      await page.go(`http://127.0.0.1:${ports[0]}/console`);
      expect(await until(async () => !(await isIn(page)), 5_000)).toBe(true);
      await page.close();
    });
  });
});
