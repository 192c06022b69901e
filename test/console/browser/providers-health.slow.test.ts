/** The health of providers: what each attempt was answered, and the calls that each figure counts. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { completion } from "../../books/stress.ts";
import { cut, json, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const VARIABLE = "HEALTH_TEST_VENDOR_KEY";
const KEY = "vendor-key-0123456789";
const HEADS = ["429", "5xx", "timeout, broken", "credential", "client's fault"];
const CHUNK = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n`;
/** The ids of all rows of Calls. */
const IDS = "[...document.querySelectorAll('tr[data-id]')].map((row) => row.dataset.id).sort()";

describe.skipIf(missingChromium !== undefined)(`providers (${missingChromium ?? "in a browser"})`, () => {
  let browser: Browser;
  let stage: Stage;
  const hosts: Upstream[] = [];
  const made = new Map<string, string[]>();

  function host(answer: Parameters<typeof startUpstream>[0], apiKey = KEY) {
    const upstream = startUpstream(answer);
    hosts.push(upstream);
    return { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"], apiKey };
  }
  const error = (status: number) => json({ error: { message: `No: ${status}.` } }, status);

  beforeAll(async () => {
    const slow = () => Bun.sleep(400).then(() => json(completion()));
    const providers = {
      well: host(() => json(completion()), `\${${VARIABLE}}`),
      slow: host(slow),
      busy: host(() => error(503)),
      limited: host(() => error(429)),
      locked: host(() => error(401)),
      strict: host(() => error(400)),
      broken: host(() => cut([CHUNK], "fin")),
    };
    const retried = (name: string, then: string) => [`${name}/m`, { model: `${then}/m`, priority: 1 }];
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        env: { [VARIABLE]: "another-key-0123456789" },
        config: {
          ...{ providers, circuitBreaker: { enabled: false } },
          prices: { "*": { input: 3, output: 15 } },
          routes: { chain: retried("busy", "well"), lost: retried("busy", "limited") },
        },
      }),
    ]);
    const models = ["chain", "lost", "limited/m", "locked/m", "strict/m", "broken/m", "well/m", "slow/m"];
    for (const model of [...models, "strict/m"]) {
      const { id } = await stage.call(model, { stream: model === "broken/m" });
      made.set(model, [...(made.get(model) ?? []), id]);
    }
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
    for (const upstream of hosts) upstream.stop();
  });

  async function opened(query = ""): Promise<BrowserPage> {
    const page = await stage.open(browser, `/providers${query}`);
    await page.waitFor("document.querySelectorAll('.compare tbody tr').length >= 7");
    return page;
  }

  /** The figures of a row by their heads. */
  const figures = (page: BrowserPage, name: string) =>
    page.evaluate<Record<string, string>>(`(() => {
      const heads = [...document.querySelectorAll('.compare thead th')].map((head) => head.innerText.trim());
      const row = [...document.querySelectorAll('.compare tbody tr')].find((one) => one.cells[0].innerText.trim() === ${JSON.stringify(name)});
      return Object.fromEntries([...row.cells].map((cell, at) => [heads[at], cell.innerText.trim()]));
    })()`);

  test("S3: each attempt is counted by what its provider answered, and the client's faults are no failures", async () => {
    const page = await opened();
    const of = async (name: string) => {
      const found = await figures(page, name);
      return [...HEADS.map((head) => found[head]), found["Failed"]];
    };
    // weir asked `busy` at least twice, `limited` once more after it.
    const busy = await of("busy");
    expect([Number(busy[1]) >= 2, busy[0], busy[5]]).toEqual([true, "0", "100 %"]);
    expect(await of("locked")).toEqual(["0", "0", "0", "1", "0", "100 %"]);
    expect(await of("strict")).toEqual(["0", "0", "0", "0", "2", "0 %"]);
    expect(await of("broken")).toEqual(["0", "0", "1", "0", "0", "100 %"]);
    expect(await of("well")).toEqual(["0", "0", "0", "0", "0", "0 %"]);
    expect((await of("limited"))[1]).toBe("0");
    await page.waitForText("No attempt failed in this time.", "article[aria-label=strict]");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("S3: each figure leads to exactly the calls that it counts", async () => {
    const wanted: readonly (readonly [string, string, readonly string[]])[] = [
      ["busy", "5xx", ["chain", "lost"]],
      ["limited", "429", ["lost", "limited/m"]],
      ["locked", "credential", ["locked/m"]],
      ["strict", "client's fault", ["strict/m"]],
      ["broken", "timeout, broken", ["broken/m"]],
      ["limited", "Failed", ["lost", "limited/m"]],
    ];
    for (const [name, head, models] of wanted) {
      const page = await opened();
      await page.evaluate(`(() => {
        const at = [...document.querySelectorAll('.compare thead th')].findIndex((one) => one.innerText.trim() === ${JSON.stringify(head)});
        const row = [...document.querySelectorAll('.compare tbody tr')].find((one) => one.cells[0].innerText.trim() === ${JSON.stringify(name)});
        row.cells[at].querySelector('a').click();
      })()`);
      const ids = models.flatMap((model) => made.get(model)!).sort();
      await page.waitFor(`location.pathname.endsWith('/calls') && ${IDS}.length === ${ids.length}`);
      expect([name, head, await page.evaluate<string[]>(IDS)]).toEqual([name, head, ids]);
      // The head counts the same calls.
      await page.waitForText(new RegExp(`^${ids.length} calls?`), "section[aria-label=Calls] h2");
      await page.close();
    }
  });

  test("S3: all deployments stand on one axis, and the heads order them and the cards", async () => {
    const page = await opened();
    const width = await page.evaluate<number>(
      "new Set([...document.querySelectorAll('svg.track')].map((track) => track.getBoundingClientRect().width)).size",
    );
    expect(width).toBe(1);
    const edge = (name: string) =>
      page.evaluate<number>(`(() => {
        const row = [...document.querySelectorAll('.compare tbody tr')].find((one) => one.cells[0].innerText.trim() === ${JSON.stringify(name)});
        return row.querySelector('svg.track line:last-child').getBoundingClientRect().x;
      })()`);
    expect(await edge("slow")).toBeGreaterThan((await edge("well")) + 50);
    const first = (selector: string) =>
      page.evaluate<string>(`document.querySelector('${selector}').innerText`);
    for (const head of ["p95", "Failed", "Calls"]) {
      await page.evaluate(
        `[...document.querySelectorAll('.compare .sort')].find((one) => one.innerText.startsWith(${JSON.stringify(head)})).click()`,
      );
      await page.waitFor("document.querySelector('[aria-sort=descending]')");
      expect(await first("[aria-sort=descending]")).toStartWith(head);
      const name = (await first(".compare tbody td")).trim();
      expect(await first(".cards article h2")).toStartWith(name);
      if (head === "p95") expect(name).toBe("slow");
      const values = await page.evaluate<string[]>(`(() => {
        const at = [...document.querySelectorAll('.compare thead th')].findIndex((one) => one.ariaSort === 'descending');
        return [...document.querySelectorAll('.compare tbody tr')].map((row) => row.cells[at].innerText);
      })()`);
      const figures = values.map((value) => Number.parseFloat(value.replace("–", "-1")));
      if (head !== "p95") expect(figures).toEqual(figures.toSorted((x, y) => y - x));
    }
    await page.waitFor("location.search.includes('sort=calls')");
    await page.close();
  });

  test("M13: a card that opens does not stretch its row, and names a variable only where the key is from it", async () => {
    const page = await opened();
    const heights = () =>
      page.evaluate<Record<string, number>>(
        "Object.fromEntries([...document.querySelectorAll('.cards article')].map((card) => [card.ariaLabel, card.offsetHeight]))",
      );
    const before = await heights();
    await page.evaluate("document.querySelector('article[aria-label=locked] summary').click()");
    await page.waitFor("document.querySelector('article[aria-label=locked] details').open");
    const { locked, ...others } = await heights();
    expect(locked).toBeGreaterThan(before["locked"]! + 20);
    for (const [name, height] of Object.entries(others))
      expect({ name, height }).toEqual({ name, height: before[name]! });
    expect(await page.text("article[aria-label=locked]")).not.toContain("key from");
    await page.evaluate("document.querySelector('article[aria-label=well] summary').click()");
    await page.waitForText(new RegExp(`key from\\s+${VARIABLE}`), "article[aria-label=well]");
    expect(await page.violations()).toEqual([]);
    await page.close();
  });

  test("S3: on a phone nothing is wider than the window", async () => {
    const page = await stage.open(browser, "/providers", { width: 390, height: 800 });
    await page.waitFor("document.querySelectorAll('.compare tbody tr').length >= 7");
    expect(await page.sideways()).toBe(0);
    await page.close();
  });

  test("a link to one provider opens its card, in view and with the focus", async () => {
    const page = await opened("?open=strict");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("strict");
    expect(await page.evaluate("document.querySelectorAll('article details[open]').length")).toBe(1);
    const top = "document.activeElement.getBoundingClientRect().top";
    expect(await page.evaluate(`${top} >= 0 && ${top} < innerHeight`)).toBe(true);
  });
});

describe.skipIf(missingChromium !== undefined)("a provider that refuses weir's credential", () => {
  test("M13: is skipped until a time, because of what it answered", async () => {
    const upstream = startUpstream(() => json({ error: { message: "No." } }, 401));
    const locked = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"], apiKey: KEY };
    const [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({ config: { providers: { locked } } }),
    ]);
    await stage.call("locked/m");
    const page = await stage.open(browser, "/providers");
    const said = await page.waitForText("the provider refused the credential", "article[aria-label=locked]");
    expect(said).toMatch(
      /Skipped until \d\d:\d\d \(401: the provider refused the credential\) for m\. Then one call tries it\./,
    );
    expect(said).not.toMatch(/left alone|asked for rest|on trial/i);
    await browser.close();
    await stage.end();
    upstream.stop();
  });
});
