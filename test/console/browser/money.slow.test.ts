/** Spend, Keys & budgets, Providers, the first run and the sign-in, against a gateway with a seeded store. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Budget, Calls, CreatedKey, Key, Rate, UsageReport } from "../../../src/operator/index.ts";
import { dollars } from "../../../src/console/numbers/money.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { providersReport } from "../made-up.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(400_000);

const FAILED = { status: 503, body: { error: { code: "store", message: "The store did not answer." } } };
/** The months of the store are those of the books. */
const MONTH = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth());

describe.skipIf(missingChromium !== undefined)(
  `money in the console (${missingChromium ?? "Chromium"})`,
  () => {
    let browser: Browser;
    let stage: Stage;
    let page: BrowserPage;

    beforeAll(async () => {
      [browser, stage] = await Promise.all([
        startBrowser(),
        startStage({ seed: { calls: 1_500, days: 12 } }),
      ]);
      page = await stage.open(browser, "/spend");
    });

    afterAll(async () => {
      await browser?.close();
      await stage?.end();
    });

    const show = (path: string) => page.go(`${stage.admin.url}/console${path}`);
    const read = <Answer>(path: string) => stage.api.send<Answer>("GET", path);

    const makeKey = async (name: string, kind: "admin" | "read") =>
      (await stage.api.send<CreatedKey>("POST", "/keys", { body: { name, kind, path: "/" } })).secret;

    /** What all calls of a query of the admin API cost. Nano-dollars. */
    async function costOf(query: string): Promise<number> {
      let [sum, after] = [0, ""];
      do {
        const { calls, next } = await read<Calls>(`/calls${query}&limit=500${after}`);
        for (const { attempts } of calls) for (const { charge } of attempts) sum += charge.cost;
        after = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
      } while (after !== "");
      return sum;
    }

    describe("Spend", () => {
      test("shows the sums of the books: the total, each row, what is uncertain, and what has no price", async () => {
        await show("/spend");
        await page.waitForText("claude-sonnet-4-6");
        const { rows, total } = await read<UsageReport>(`/usage?by=provider,model&from=${MONTH}`);
        expect(await page.text(".spend-head .big")).toBe(dollars(total.cost));
        expect(await page.text(".spend-head")).toContain(`~${dollars(total.estimated + total.assumed)}`);
        const table = await page.text("table.spend");
        for (const { group, cost } of rows.filter((row) => row.cost > 0)) {
          expect(table).toContain(`${group["provider"]}/${group["model"]}`);
          expect(table.replace(/\s/g, "")).toContain(dollars(cost));
        }
        expect(table).toMatch(/qwen3-32b\s+unpriced/);
        expect(await page.text(".spend-head")).toContain(
          `${total.unpriced.toLocaleString("en-US")} attempts`,
        );
      });

      test("a bar opens calls that cost what the bar says", async () => {
        await show("/spend?by=key&range=7d&key=ci-bot");
        await page.waitFor("document.querySelectorAll('a.col').length === 7");
        await page.waitFor(
          `/\\$.*[1-9]/.test([...document.querySelectorAll("a.col")].at(-2).getAttribute("aria-label"))`,
        );
        const bar = await page.evaluate<{ label: string; href: string }>(
          `(() => { const bar = [...document.querySelectorAll("a.col")].at(-2); return { label: bar.getAttribute("aria-label"), href: bar.getAttribute("href") }; })()`,
        );
        const { search } = new URL(bar.href, "http://console");
        expect(search).toContain("key=ci-bot");
        expect(bar.label).toContain(`: ${dollars(await costOf(search))}`);
        await page.evaluate(
          `[...document.querySelectorAll("a.col")].at(-2).dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))`,
        );
        await page.waitForText("Calls", ".top");
        expect(await page.evaluate<string>("location.search")).toBe(search);
      });

      test("every grouping adds up to the same total, and a day is compared with its weekday", async () => {
        const totals = new Set<string>();
        for (const by of ["path", "key", "tag", "model", "provider", "day"]) {
          await show(`/spend?by=${by}`);
          await page.waitFor("document.querySelector('table.spend tfoot')");
          totals.add((await page.text("table.spend tfoot td:nth-child(2)")).replace(/\s/g, ""));
        }
        expect(totals.size).toBe(1);
      });

      test("names of models that are markup, long, or written from the right are text, cut (synthetic answer)", async () => {
        const names = [
          "<img src=x onerror=window.pwned=1>",
          "x".repeat(4_000),
          "\u202e\u05d0\u05d1",
          "</td>",
        ];
        const report = await read<UsageReport>(`/usage?by=provider,model&from=${MONTH}`);
        const rows = Array.from({ length: 400 }, (_, at) => ({
          ...report.rows.find(({ cost }) => cost > 0)!,
          group: { provider: "p", model: `${100 + at}${names[at % names.length]}` },
        }));
        await page.answer(({ pathname }) =>
          pathname === "/admin/v1/usage" ? { body: { ...report, rows } } : undefined,
        );
        for (const width of [1440, 390]) {
          await page.view({ width });
          await show("/spend");
          await page.waitForText("<img src=x", "table.spend");
          await page.waitForText("Show 60 more");
          expect(await page.sideways()).toBe(0);
        }
        expect(
          await page.evaluate<boolean>(`"pwned" in window || document.querySelector("main img") !== null`),
        ).toBe(false);
        await page.answer(undefined);
        await page.view({});
      });

      test("a bar that has the focus or the mouse says what it is made of", async () => {
        await show("/spend");
        await page.waitFor("document.querySelector('a.col .f1, a.col [class^=f]')");
        await page.hover("a.col:last-of-type");
        expect(await page.waitForText("all", ".tip")).toContain("claude-sonnet-4-6");
      });

      test("goes back to the month before and forth again", async () => {
        await show("/spend");
        await page.click("=The period before");
        await page.waitForText(
          /^(January|February|March|April|May|June|July|August|September|October|November|December)$/m,
        );
        expect(await page.evaluate<string>("location.search")).toMatch(/from=\d+&to=\d+/);
        await page.click("=The next period");
        await page.waitForText("so far");
        expect(await page.evaluate<string>("location.search")).toBe("");
      });
    });

    describe("Keys & budgets", () => {
      test("shows each budget with what is left, the fullest first", async () => {
        await show("/keys");
        await page.waitForText("agents, month");
        const { budgets } = await read<{ budgets: Budget[] }>("/budgets");
        const bars = await page.evaluate<string[]>(
          `[...document.querySelectorAll(".budgets svg.bar")].map((bar) => bar.getAttribute("aria-label"))`,
        );
        const share = ({ limit, windows }: Budget) => 1 - windows.at(-1)!.left / limit;
        const expected = budgets.sort((a, b) => share(b) - share(a));
        expect(bars.map((words) => /left of (\S+)$/.exec(words)![1]!)).toEqual(
          expected.map(({ limit }) => dollars(limit)),
        );
      });

      test("a raised budget is raised in the books, and says so", async () => {
        await page.click("=Raise agents, month");
        await page.fill("=New limit", "$1,234.50");
        await page.click("=Raise");
        await page.waitForText("$1,234.50", "main");
        const { budgets } = await read<{ budgets: Budget[] }>("/budgets");
        expect(budgets.find(({ name }) => name === "agents, month")!.limit).toBe(1_234_500_000_000);
      });

      test("who raises a budget that another operator has changed sees the new limit first", async () => {
        await page.click("=Raise eng, month");
        const { budgets } = await read<{ budgets: Budget[] }>("/budgets");
        const eng = budgets.find(({ name }) => name === "eng, month")!;
        await stage.api.send("POST", `/budgets/${eng.id}/raise`, { body: { limit: 777_000_000_000 } });
        await page.fill("=New limit", "$900");
        await page.click("=Raise");
        await page.waitForText("This budget was changed meanwhile: its limit is $777.00 now");
        await page.click("=Raise");
        await page.waitForText("$900.00", "main");
      });

      test("a budget is made as it is written, and deleted after a question", async () => {
        await page.click("=New budget");
        await page.fill("=Name", "all, week");
        await page.waitForText("Letters, digits, ._@- only.");
        await page.fill("=Name", "everything a week");
        await page.fill("=Limit, window, mode", "$2.50 a week, soft");
        await page.waitForText("$2.50 a week, soft: anything must be left");
        await page.click("=Create");
        await page.waitForText("everything a week", ".budgets");
        const { budgets } = await read<{ budgets: Budget[] }>("/budgets");
        expect(budgets.find(({ name }) => name === "everything a week")).toMatchObject({
          ...{ limit: 2_500_000_000, window: "week", mode: "soft", on: { kind: "all" } },
        });
        await page.click("=Raise everything a week");
        await page.click("=Delete…");
        await page.click("=Delete everything a week");
        await page.waitForText("everything a week deleted");
      });

      test("limits of a key are set, changed and removed", async () => {
        await show("/keys/search");
        for (const [text, limits] of [
          ["120", { rpm: 120 }],
          ["60", { rpm: 60 }],
          ["", undefined],
        ] as const) {
          await page.click("=Edit…");
          await page.fill("=Calls a minute", text);
          if (text === "") await page.press("Backspace");
          await page.click("=Save");
          await page.waitFor("!document.querySelector('dialog[open]')");
          await page.waitForText(limits ? `${text} a minute` : "no limit of its own");
          const { rates } = await read<{ rates: Rate[] }>("/rates");
          expect(rates.find(({ name }) => name === "search")?.limits).toEqual(limits);
        }
      });

      test("the page of a key has what it spent, its budgets, and what was refused", async () => {
        await show("/keys/ci-bot");
        const shown = await page.waitForText("Budgets that count its calls");
        const { keys } = await read<{ keys: Key[] }>("/keys");
        const { rows } = await read<UsageReport>(`/usage?by=key&from=${MONTH}`);
        const { id } = keys.find(({ name }) => name === "ci-bot")!;
        expect(shown).toContain(dollars(rows.find(({ group }) => group["key"] === id)!.cost));
        expect(shown).toContain("agents, month");
        expect(shown).toContain("May use smart, claude-*");
      });

      test("the keyboard opens a key beside the tree, and goes back to its row", async () => {
        await show("/keys");
        await page.waitForText("review-bot");
        await page.press("j");
        await page.press("j");
        const id = await page.evaluate<string>("document.activeElement.dataset.id");
        await page.press("Enter");
        await page.waitForText("Budgets that count its calls");
        expect(await page.evaluate<string>("location.search")).toBe(`?open=${id}`);
        await page.press("Escape");
        await page.waitFor(`document.activeElement.dataset.id === "${id}"`);
        expect(await page.evaluate<string>("location.search")).toBe("");
      });

      test("a name that is taken is refused beside the button, and nothing is lost", async () => {
        await show("/keys?new=key");
        await page.fill("=Name", "ci-bot");
        await page.fill("=Budget", "$5 a day");
        await page.click("=Create");
        await page.waitFor(`document.querySelector("dialog[open] [role=alert]")`);
        expect(await page.text("dialog[open] [role=alert]")).toContain("ci-bot");
        expect(await page.evaluate<string>(`document.querySelector("dialog[open] input").value`)).toBe(
          "ci-bot",
        );
        await page.press("Escape");
      });

      test("a read key looks and cannot change anything", async () => {
        const secret = await makeKey("auditor", "read");
        const auditor = await browser.open(`${stage.admin.url}/console/keys`, {
          ...{ isolated: true, headers: { authorization: `Bearer ${secret}` } },
        });
        await auditor.waitForText("agents, month");
        const open = await auditor.evaluate<string[]>(
          `[...document.querySelectorAll("main button:not(:disabled)")].map((button) => button.innerText).filter((text) => /New|Raise|…$/.test(text))`,
        );
        expect(open).toEqual([]);
        await auditor.close();
      });
    });

    describe("Providers", () => {
      test("trouble stands first, with its reason, its end, and a link to the calls (synthetic answer)", async () => {
        await page.answer(({ pathname }) =>
          pathname === "/admin/v1/providers" ? { body: providersReport() } : undefined,
        );
        await show("/providers");
        await page.waitForText("skipped");
        const first = await page.text("article");
        expect(first).toContain("anthropic eu");
        expect(first).toMatch(
          /Skipped until \S+ \(529: the provider is overloaded\) for claude-sonnet-4-6 and 1 more, in 2 workers\. Then one call tries it\./,
        );
        expect(await page.text(".side")).toContain("1 down");
        const href = await page.evaluate<string>(
          `[...document.querySelectorAll("article a")].find((link) => link.innerText === "4").getAttribute("href")`,
        );
        expect(href).toContain("tried=429");
        expect(await page.violations()).toEqual([]);
        await page.answer(undefined);
      });
    });

    describe("the first run", () => {
      test("has commands that work as they stand, and becomes the page Now with the first call", async () => {
        const fresh = await startStage();
        const tab = await fresh.open(browser, "/", { height: 1_200 });
        const shown = await tab.waitForText("Waiting for the first call");
        for (const path of ["/v1/chat/completions", "/v1/messages"])
          expect(shown).toContain(fresh.url + path);
        expect(shown).toContain(`base_url="${fresh.url}/v1"`);
        expect(shown).toContain(`ANTHROPIC_BASE_URL=${fresh.url}`);
        expect(await tab.violations()).toEqual([]);
        const command = await tab.text(".steps pre");
        expect(Bun.spawnSync(["sh", "-c", command.replace("curl", "curl -sS")]).stdout.toString()).toContain(
          "[DONE]",
        );
        await tab.waitFor(`document.querySelector("tr[data-id]")`);
        expect(await tab.text("tr[data-id]")).toContain("mock/chat");
        await tab.close();
        await fresh.end();
      });
    });

    describe("the sign-in", () => {
      const open = (path: string) => browser.open(`${stage.admin.url}/console${path}`, { isolated: true });
      const link = async () =>
        new URL((await stage.api.send<{ url: string }>("POST", "/session/link")).url).hash;

      test("a link signs in once; the token stays in no address", async () => {
        const hash = await link();
        const one = await open(`/keys${hash}`);
        await one.waitForText("agents, month");
        expect(await one.evaluate<string>("location.href")).toBe(`${stage.admin.url}/console/keys`);
        await one.go(`${stage.admin.url}/console/spend${hash}`);
        await one.waitForText("so far");
        await one.close();
        const other = await open(`/keys${hash}`);
        await other.waitForText("This link was used already. weir console makes a new one.");
        expect(await other.text()).not.toContain("agents, month");
        await other.close();
      });

      test("a wrong key and a key for calls are told apart, an admin key opens the page that was asked for", async () => {
        const tab = await open("/spend?by=path");
        await tab.fill("=Key or sign-in link", "weir_ad_wrong");
        await tab.press("Enter");
        await tab.waitForText(/Not a key of this gateway\. \d tries left/);
        await tab.fill("=Key or sign-in link", stage.createKey("caller"));
        await tab.press("Enter");
        await tab.waitForText("This key makes calls");
        await tab.fill("=Key or sign-in link", await makeKey("operator", "admin"));
        await tab.press("Enter");
        await tab.waitForText("/eng/agents", "table.spend");
        await tab.close();
      });

      test("who is signed out goes on where they were", async () => {
        const tab = await open(`/spend?by=path${await link()}`);
        await tab.waitForText("/eng/agents", "table.spend");
        await tab.evaluate(
          `fetch("/admin/v1/session", { method: "DELETE", headers: { "x-weir-console": "1" } })`,
        );
        await tab.click("=Key");
        await tab.waitForText("You are signed out.");
        await tab.fill("=Key or sign-in link", await makeKey("second", "admin"));
        await tab.press("Enter");
        await tab.waitForText("ci-bot", "table.spend");
        await tab.close();
      });
    });

    describe("every page", () => {
      const PAGES = ["/spend", "/spend?by=key&range=24h", "/keys", "/keys?open=ci-bot", "/keys/ci-bot"];

      test("scrolls sideways at no width, and axe finds nothing serious, light and dark", async () => {
        for (const path of PAGES)
          for (const [width, dark] of [
            [1440, false],
            [1024, true],
            [390, true],
            [390, false],
          ] as const) {
            await page.view({ width, dark });
            await show(path);
            await page.waitForText(/support|ci-bot|claude/, "main");
            const found = { sideways: await page.sideways(), violations: await page.violations() };
            expect({ path, width, ...found }).toEqual({ path, width, sideways: 0, violations: [] });
          }
        await page.view({});
      });

      test("says what failed and offers to try again, which works", async () => {
        let isDown = true;
        await page.answer(({ pathname }) =>
          isDown && pathname.startsWith("/admin/v1/") && !pathname.endsWith("/session") ? FAILED : undefined,
        );
        for (const [path, words] of [
          ["/spend", "claude-sonnet-4-6"],
          ["/keys", "agents, month"],
        ] as const) {
          isDown = true;
          await show(path);
          await page.waitForText("could not be read. The store did not answer.".split(". ")[1]!, "main");
          isDown = false;
          await page.click("=Try again");
          await page.waitForText(words, "main");
        }
        await page.answer(undefined);
      });
    });
  },
);
