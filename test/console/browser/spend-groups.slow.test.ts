/** S13, change 14: Spend by what the books have no sums of: client, session, state of the charge, and five minutes. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { UsageReport } from "../../../src/operator/index.ts";
import { dollars } from "../../../src/console/numbers/money.ts";
import { whole } from "../../../src/console/numbers/counts.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const MONTH = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth());

describe.skipIf(missingChromium !== undefined)(
  `Spend by calls (${missingChromium ?? "in a browser"})`,
  () => {
    let browser: Browser;
    let stage: Stage;

    beforeAll(async () => {
      [browser, stage] = await Promise.all([
        startBrowser(),
        startStage({ seed: { calls: 1_200, days: 12 } }),
      ]);
    });

    afterAll(async () => {
      await browser?.close();
      await stage?.end();
    });

    const usage = (query: string) => stage.api.send<UsageReport>("GET", `/usage?from=${MONTH}&${query}`);
    async function opened(query: string): Promise<BrowserPage> {
      const page = await stage.open(browser, `/spend?${query}`);
      await page.waitFor("document.querySelector('table.spend tbody tr')");
      return page;
    }
    const rowsOf = (page: BrowserPage, selector = "table.spend tbody tr") =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((row) => row.innerText.replace(/\\s/g, ""))`,
      );
    const squeezed = (text: string) => text.replace(/\s/g, "");

    for (const [by, none] of [
      ["client", "no client"],
      ["session", "no session"],
      ["state", "no charge"],
    ] as const)
      test(`S13: by ${by} each group has its calls and its cost, and all are the total of the books`, async () => {
        const { rows, total } = await usage(`by=${by}`);
        expect(total).toEqual((await usage("by=model")).total);
        const page = await opened(`by=${by}`);
        await page.waitFor(
          `document.querySelectorAll("[aria-label='Group by'] [aria-checked=true]").length === 1`,
        );
        const shown = await rowsOf(page);
        for (const { group, cost, calls } of rows.slice(0, 10)) {
          const name = (group[by] || none).replace(/\/$/, "");
          const row = shown.find((text) => text.replace("▸", "").startsWith(squeezed(name)));
          expect(row).toContain(group[by] === "unpriced" ? "unpriced" : squeezed(dollars(cost)));
          expect(row).toContain(whole(calls));
        }
        await page.waitForText("The calls themselves are added up, to the nano-dollar.");
        expect(page.faults).toEqual([]);
        await page.close();
      });

    test("S13: a client is divided into its models, and its figure opens exactly its calls", async () => {
      const client = (await usage("by=client")).rows.find(({ group }) => group["client"] !== "")!;
      const name = client.group["client"]!;
      const page = await opened("by=client");
      await page.click(`=${name.replace(/\/$/, "")} by model`);
      await page.waitFor("document.querySelectorAll('table.spend tr.sub td').length > 8");
      const { rows, total } = await usage(`by=provider,model&client=${encodeURIComponent(name)}`);
      expect([total.calls, total.cost]).toEqual([client.calls, client.cost]);
      expect(await rowsOf(page, "table.spend tr.sub")).toHaveLength(rows.length);
      await page.evaluate(
        `[...document.querySelectorAll('table.spend tbody tr')].find((row) => row.innerText.includes(${JSON.stringify(name.replace(/\/$/, ""))})).querySelector('a.fig').click()`,
      );
      await page.waitForText(new RegExp(`^${whole(client.calls)} calls?`), "section[aria-label=Calls] h2");
      await page.close();
    });

    test("S13: what is certain, estimated, assumed and unpriced are groups, and lead to such calls", async () => {
      const { rows } = await usage("by=state");
      const names = rows.map(({ group }) => group["state"]);
      expect(names).toContain("certain");
      expect(names.every((name) => ["certain", "estimated", "assumed", "unpriced", ""].includes(name!))).toBe(
        true,
      );
      const { rows: certain } = await usage("by=state&state=certain");
      expect(certain.map(({ group }) => group["state"])).toEqual(["certain"]);
      const page = await opened("by=state");
      const href = await page.evaluate<string>(
        "[...document.querySelectorAll('table.spend tbody tr')].find((row) => row.innerText.includes('certain')).querySelector('a.fig').getAttribute('href')",
      );
      expect(new URL(href, "http://console").searchParams.get("state")).toBe("certain");
      await page.close();
    });

    test("S13: an hour and three hours have bars of 5 minutes, a day has hours", async () => {
      await stage.call("mock/chat");
      for (const [range, bars, minutes] of [
        ["1h", 12, 5],
        ["3h", 36, 5],
        ["24h", 24, 60],
      ] as const) {
        const page = await opened(`range=${range}`);
        await page.waitFor("document.querySelectorAll('svg.chart a.col').length > 0");
        const links = await page.evaluate<string[]>(
          "[...document.querySelectorAll('svg.chart a.col')].map((bar) => bar.getAttribute('href'))",
        );
        expect([range, links.length]).toEqual([range, bars]);
        const { searchParams } = new URL(links.at(-1)!, "http://console");
        expect(Number(searchParams.get("to")) - Number(searchParams.get("from"))).toBe(minutes * 60_000);
        const costs = await page.evaluate<boolean>(
          "[...document.querySelectorAll('svg.chart a.col')].at(-1).querySelector('rect:not(.hit)') !== null",
        );
        expect(costs).toBe(true);
        await page.close();
      }
    });

    test("S13: weir usage and the CSV have the same groups", async () => {
      const { output } = stage.run("usage", "--by", "client", "--since", "30d", "--json");
      const { rows } = JSON.parse(output) as UsageReport;
      expect(rows.length).toBeGreaterThan(1);
      const text = stage.run("usage", "--by", "state", "--since", "30d", "--charge", "certain").output;
      expect(text).toMatch(/^certain /m);
      expect(text).not.toMatch(/^(estimated|assumed) /m);
      expect(stage.run("usage", "--charge", "sure").output).toContain("--charge knows certain, estimated");
      const csv = stage.run(
        "usage",
        "--by",
        "session",
        "--client",
        rows[0]!.group["client"] || "sdk",
        "--csv",
      ).output;
      expect(csv).toStartWith("session,calls");
    });
  },
);
