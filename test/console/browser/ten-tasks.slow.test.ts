/**
 * What people open the console for, from its first page, with clicks and inputs counted: one is a click, a field that is filled, or
 * keys that are pressed together.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Budget, Key } from "../../../src/operator/index.ts";
import { dollars } from "../../../src/console/numbers/money.ts";
import { completion } from "../../books/stress.ts";
import { until } from "../../helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const BUSY = { error: { type: "overloaded_error", message: "Too many people ask at once." } };
const ANSWER = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
  ...{ content: [{ type: "text", text: "Hello." }], usage: { input_tokens: 9, output_tokens: 2 } },
};

/** A person, whose steps are counted. */
class Person {
  readonly page: BrowserPage;
  steps = 0;

  constructor(page: BrowserPage) {
    this.page = page;
  }

  /** Each click leads to the page that {@link shows} waits for. */
  async click(what: string): Promise<this> {
    await this.page.click(what);
    this.steps++;
    return this;
  }

  async fill(what: string, text: string): Promise<this> {
    await this.page.fill(what, text);
    this.steps++;
    return this;
  }

  async press(keys: string): Promise<this> {
    await this.page.press(keys);
    this.steps++;
    return this;
  }

  shows(text: string | RegExp, selector?: string): Promise<string> {
    return this.page.waitForText(text, selector);
  }

  /** Ends the task. @param most steps */
  async done(most: number): Promise<void> {
    expect(this.steps).toBeLessThanOrEqual(most);
    expect(this.page.faults).toEqual([]);
    await this.page.close();
  }
}

describe.skipIf(missingChromium !== undefined)(`ten tasks (${missingChromium ?? "in a browser"})`, () => {
  let browser: Browser;
  let stage: Stage;
  const keys: Record<string, string> = {};
  const hosts: Upstream[] = [];

  function host(answer: Parameters<typeof startUpstream>[0], speaks = "chat-completions") {
    const upstream = startUpstream(answer);
    hosts.push(upstream);
    return { baseUrl: `${upstream.url}/v1`, speaks, models: ["m"], apiKey: "vendor-key-0123456789" };
  }

  beforeAll(async () => {
    const providers = {
      quick: host(() => json(completion())),
      slow: host(() => Bun.sleep(500).then(() => json(completion()))),
      busy: host(() => json(BUSY, 529)),
      other: host(() => json(ANSWER), "messages"),
    };
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        config: {
          ...{ providers, circuitBreaker: { enabled: false } },
          prices: { "*": { input: 3, output: 15 } },
          capture: { header: false, share: 1 },
        },
      }),
    ]);
    for (const name of ["alice", "bob", "intern"]) keys[name] = stage.createKey(name);
    await stage.api.send("PATCH", "/keys/alice", { body: { scopes: { models: ["quick/m", "busy/m"] } } });
    await stage.api.send("POST", "/budgets", {
      body: {
        ...{ name: "interns", on: { kind: "key", what: "intern" }, limit: 2_500_000, window: "day" },
        mode: "hard",
      },
    });
    for (const model of ["quick/m", "quick/m", "slow/m"]) await ask("bob", model);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
    for (const upstream of hosts) upstream.stop();
  });

  /** Makes a call and waits for its record. @returns its id */
  async function ask(name: string, model: string, body: object = {}, headers: Record<string, string> = {}) {
    const response = await fetch(`${stage.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${keys[name]}`,
        ...headers,
      },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], ...body }),
    });
    await response.text();
    const id = response.headers.get("x-request-id")!;
    const has = () =>
      stage.api.send("GET", `/calls/${id}`).then(
        () => true,
        () => false,
      );
    expect(await until(has, 10_000)).toBe(true);
    return id;
  }

  /** Opens the first page. */
  const person = async () => new Person(await stage.open(browser, "/"));
  const row = (id: string) => `tr[data-id="${id}"]`;
  const nav = (path: string) => `.side a[href^="/console/${path}"]`;

  test("task 1, S4: why a call failed: vendor, status and sentence in 3 clicks", async () => {
    const id = await ask("alice", "busy/m");
    const alice = await person();
    await alice.click(row(id));
    const said = await alice.shows("529", ".say");
    expect(said).toContain("busy answered 529");
    expect(said).toContain("Too many people ask at once");
    await alice.done(3);
  });

  test("task 1, S5: which budget refused a call, in 2 clicks", async () => {
    const id = await ask("intern", "quick/m");
    const intern = await person();
    await intern.click(row(id));
    expect(await intern.shows("Refused by", ".say")).toMatch(
      /Refused by the budget interns: this call may cost \$/,
    );
    await intern.done(2);
  });

  test("task 2, S13: who spent most, on what, in 3 clicks", async () => {
    await ask("bob", "mock/chat", { max_tokens: 400 });
    const finance = await person();
    await finance.click(nav("spend"));
    await finance.click("=Key");
    await finance.shows("bob", "table.spend");
    const first = await finance.page.evaluate<string>(
      "document.querySelector('table.spend tbody tr').innerText",
    );
    expect(first).toContain("bob");
    await finance.click("=bob by model");
    await finance.shows("quick/m", "table.spend");
    await finance.done(3);
  });

  test("task 3, S3: which provider is slow, in 2 clicks", async () => {
    const oncall = await person();
    await oncall.click(nav("providers"));
    await oncall.shows("slow", ".compare");
    await oncall.click(".compare thead th:nth-child(3) .sort");
    await oncall.page.waitFor("document.querySelector('.compare [aria-sort=descending]')");
    const head = await oncall.page.evaluate<string>(
      "document.querySelector('.compare [aria-sort=descending]').innerText",
    );
    expect(head).toStartWith("p95");
    expect(await oncall.page.text(".compare tbody td")).toBe("slow");
    await oncall.done(2);
  });

  test("task 4: a key with $5 a day for one model, in 9 steps", async () => {
    const admin = await person();
    await admin.click(nav("keys"));
    await admin.click("=New key");
    await admin.fill("=Name", "notebook");
    await admin.fill("=May use models", "quick/m");
    await admin.fill("=Budget", "$5 a day");
    await admin.click("=Create");
    await admin.click("=Copy");
    const stored = `[...document.querySelectorAll("dialog[open] .end button")].at(-1)`;
    await admin.page.waitFor(`!${stored}.disabled`);
    await admin.click("=I have stored it");
    await admin.page.waitFor("!document.querySelector('dialog[open]')");
    const key = await stage.api.send<Key>("GET", "/keys/notebook");
    expect(key.scopes.models).toEqual(["quick/m"]);
    const { budgets } = await stage.api.send<{ budgets: Budget[] }>("GET", "/budgets");
    expect(budgets.find(({ on }) => on.what === key.id)).toMatchObject({
      ...{ limit: 5_000_000_000, window: "day" },
    });
    await admin.done(9);
  });

  test("task 5, S10: what weir changed in a request, in 2 clicks", async () => {
    const id = await ask("bob", "other/m", { logit_bias: { 50256: -100 } });
    const developer = await person();
    await developer.click(row(id));
    expect(await developer.shows("Not carried over as it was", ".detail")).toContain("logit_bias");
    await developer.done(2);
  });

  test("task 6, S10: a call once more with another model, in 4 steps", async () => {
    const id = await ask("bob", "quick/m");
    const developer = await person();
    await developer.click(row(id));
    await developer.click("=Send again…");
    await developer.fill("main form input[list]", "mock/chat");
    await developer.shows(/mock\/chat\. May cost up to \$/, ".estimate");
    await developer.click("main form button[type=submit]");
    await developer.page.waitFor("document.querySelectorAll('.versions dl').length === 2");
    expect(await developer.shows("mock/chat", ".versions")).toMatch(/Cost\s+\$/);
    await developer.done(4);
  });

  test("task 7, S14: a request id is found in 3 steps", async () => {
    const id = await ask("bob", "quick/m");
    const oncall = await person();
    await oncall.press("Control+k");
    await oncall.page.type(id);
    await oncall.shows(id, "dialog[open]");
    await oncall.press("Enter");
    await oncall.page.waitFor(`location.pathname.endsWith("/calls/${id}")`);
    oncall.steps++;
    await oncall.done(3);
  });

  test("task 8, S15: an agent's session reads from top to bottom with its sum, in 2 clicks", async () => {
    const session = { "x-session-id": "repair-1" };
    const user = (content: string) => ({ role: "user", content });
    const turns = ["Repair the boat", "And the oars", "Then paint it"].map(user);
    const first = [turns[0]];
    const second = [...first, { role: "assistant", content: turns[0]!.content }, turns[1]];
    const third = [...second, { role: "assistant", content: turns[1]!.content }, turns[2]];
    for (const messages of [first, second, third]) await ask("bob", "mock/echo", { messages }, session);
    const developer = await person();
    await developer.click(nav("sessions"));
    await developer.shows("Repair the boat");
    await developer.click("main tbody tr a");
    await developer.shows("Then paint it", ".session");
    const said = await developer.page.text(".session");
    const places = turns.map(({ content }) => said.indexOf(content));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThanOrEqual(0);
    const [{ cost, session: hash } = { cost: 0, session: "" }] = (
      await stage.api.send<{ sessions: { cost: number; session: string; count: number }[] }>(
        "GET",
        "/sessions",
      )
    ).sessions.filter(({ count }) => count === 3);
    expect(await developer.page.evaluate<string>("location.pathname")).toContain(hash);
    expect((await developer.page.text("main")).replace(/\s/g, "")).toContain(`Cost${dollars(cost)}`);
    await developer.done(2);
  });

  test("task 9, S11: alice may use one model more, in 5 steps", async () => {
    const admin = await person();
    await admin.click(nav("keys"));
    const id = (await stage.api.send<Key>("GET", "/keys/alice")).id;
    await admin.click(`main tr[data-id="${id}"]`);
    await admin.click("=Edit…");
    await admin.fill("=May use models", "quick/m, busy/m, slow/m");
    await admin.click("=Save");
    await admin.page.waitFor("!document.querySelector('dialog[open]')");
    expect((await stage.api.send<Key>("GET", "/keys/alice")).scopes.models).toEqual([
      ...["quick/m", "busy/m", "slow/m"],
    ]);
    const call = await ask("alice", "slow/m");
    expect(await stage.api.send<{ status: number }>("GET", `/calls/${call}`)).toMatchObject({ status: 200 });
    await admin.done(5);
  });

  test("task 10, M1: this month as a file for accounting, in dollars, in 2 clicks", async () => {
    const finance = await person();
    await finance.click(nav("spend"));
    await finance.shows("quick/m", "table.spend");
    await finance.page.evaluate(KEEP_FILE);
    await finance.click("=CSV");
    await finance.page.waitFor("window.keptFile");
    const [head, ...lines] = (await finance.page.evaluate<string>("window.keptFile")).trim().split("\n");
    const columns = head!.split(",");
    expect(columns).toContain("spent");
    const spent = lines.map((line) => line.split(",")[columns.indexOf("spent")]!);
    for (const text of spent) expect(text).toMatch(/^\d+\.\d{9}\r?$/);
    const from = lines[0]!.split(",")[columns.indexOf("from")]!;
    expect(from).toStartWith(new Date().toISOString().slice(0, 7));
    await finance.done(2);
  });

  /** Reads what a page would save. */
  const KEEP_FILE = `(() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => { void blob.text().then((text) => (window.keptFile = text)); return make(blob); };
  })()`;
});
