/** A tab: what a person does in it, and what it did by itself. */
import { readFileSync } from "node:fs";
import type { Respond, Spoken, Tab, TabEvents, View } from "./tab.ts";

export type { Answer, View } from "./tab.ts";

/** What axe-core found on a page. */
export interface Violation {
  id: string;
  impact: "minor" | "moderate" | "serious" | "critical";
  help: string;
  /** Selectors of the elements. */
  nodes: string[];
}

/** Time for what a test waits for. Milliseconds. */
const WAIT_MS = 30_000;

export class BrowserPage {
  /** Errors of the console, exceptions, and violations of the content security policy. */
  readonly faults: string[];
  /** `host:port` of every request. */
  readonly hosts: Set<string>;
  readonly #tab: Tab;

  private constructor(tab: Tab, faults: string[], hosts: Set<string>) {
    this.#tab = tab;
    this.faults = faults;
    this.hosts = hosts;
  }

  /** @param open opens a tab that tells what it does */
  static async open(open: (events: TabEvents) => Promise<Tab>, view: View): Promise<BrowserPage> {
    const faults: string[] = [];
    const hosts = new Set<string>();
    const tab = await open({ fault: (text) => faults.push(text), asked: (host) => hosts.add(host) });
    const page = new BrowserPage(tab, faults, hosts);
    await page.view(view);
    return page;
  }

  /** Size, colours and headers of the page. */
  view(view: View): Promise<void> {
    return this.#tab.view(view);
  }

  /** Loads an address and waits until its scripts have run. */
  go(url: string): Promise<void> {
    return this.#tab.go(url);
  }

  /** Answers requests in place of the server. @param respond undefined from it: the server answers */
  answer(respond: Respond | undefined): Promise<void> {
    return this.#tab.answer(respond);
  }

  /** The value of an expression in the page; a promise is awaited. @throws Error with the exception */
  async evaluate<Value>(expression: string): Promise<Value> {
    return (await this.#tab.evaluate(expression)) as Value;
  }

  /** The visible text of an element, or of the page. */
  text(selector = "body"): Promise<string> {
    return this.evaluate<string>(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
  }

  /** Waits for text on the page, or in an element. @throws Error with the text that is there instead */
  async waitForText(text: string | RegExp, selector = "body"): Promise<string> {
    let shown = "";
    const holds = async () => {
      shown = await this.text(selector);
      return typeof text === "string" ? shown.includes(text) : text.test(shown);
    };
    if (await this.#until(holds)) return shown;
    throw new Error(`${selector} does not show ${String(text)}, but:\n${shown.slice(0, 2_000)}`);
  }

  /** Waits until an expression in the page is true. */
  async waitFor(expression: string): Promise<void> {
    if (await this.#until(() => this.evaluate<boolean>(`Boolean(${expression})`))) return;
    throw new Error(`Not within ${WAIT_MS} ms: ${expression}\n${(await this.text()).slice(0, 2_000)}`);
  }

  /**
   * Clicks as a mouse does, when the element is there.
   * @param what the name of a button or link as a screen reader says it (`=Create`), or a CSS selector
   */
  async click(what: string): Promise<void> {
    const { x, y } = await this.#placeOf(what);
    await this.#tab.click(x, y);
  }

  /** Puts the mouse on an element. */
  async hover(what: string): Promise<void> {
    const { x, y } = await this.#placeOf(what);
    await this.#tab.hover(x, y);
  }

  /** Types text where the focus is. */
  async type(text: string): Promise<void> {
    await this.#tab.type(text);
  }

  /** Focuses an input, replaces its text, and types. @param what as for {@link click}; `=Name`: its label */
  async fill(what: string, text: string): Promise<void> {
    const found = await this.#find(what);
    await this.evaluate(`(() => { const element = ${found}; element.focus(); element.select?.(); })()`);
    await this.type(text);
  }

  /** Presses a key: `Enter`, `Escape`, `j`, `Control+k`. */
  async press(keys: string): Promise<void> {
    const parts = keys.split("+");
    const key = parts.pop()!;
    await this.#tab.press(key, parts);
  }

  /** @param path where the PNG is written @param whole also what lies below the window */
  async screenshot(path: string, whole = false): Promise<void> {
    await Bun.write(path, Buffer.from(await this.#tab.screenshot(whole), "base64"));
  }

  /** Runs axe-core on the page. @returns what is serious or critical; everything with `all` */
  async violations(all = false): Promise<Violation[]> {
    if (!(await this.evaluate<boolean>("'axe' in window"))) {
      const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
      await this.evaluate(`${axe}; undefined`);
    }
    const found = await this.evaluate<Violation[]>(
      `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(
        ({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.map(({ target }) => target.join(" ")) })))`,
    );
    return all ? found : found.filter(({ impact }) => impact === "serious" || impact === "critical");
  }

  /** What a screen reader says of the page; undefined where the browser does not tell. */
  spoken(): Promise<readonly Spoken[] | undefined> {
    return this.#tab.spoken();
  }

  /** Pixels by which the page is wider than its window. */
  sideways(): Promise<number> {
    return this.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  }

  async close(): Promise<void> {
    await this.#tab.close();
  }

  /** The middle of an element, when it does not move any more. */
  async #placeOf(what: string): Promise<{ x: number; y: number }> {
    let last = { x: -1, y: -1 };
    for (;;) {
      const found = await this.#find(what);
      const place = await this.evaluate<{ x: number; y: number } | null>(
        `(() => { const element = ${found}; if (!element) return null;
          element.scrollIntoView({ block: "center", inline: "center" });
          const { x, y, width, height } = element.getBoundingClientRect();
          return { x: x + width / 2, y: y + height / 2 }; })()`,
      );
      if (place && place.x === last.x && place.y === last.y) return place;
      last = place ?? last;
      await Bun.sleep(60);
    }
  }

  /** Waits for an element. @returns an expression for it */
  async #find(what: string): Promise<string> {
    const expression = what.startsWith("=")
      ? `(${byName})(${JSON.stringify(what.slice(1))})`
      : `document.querySelector(${JSON.stringify(what)})`;
    await this.waitFor(expression);
    return expression;
  }

  async #until(holds: () => Promise<boolean>): Promise<boolean> {
    for (const began = Date.now(); Date.now() - began < WAIT_MS; await Bun.sleep(50))
      if (await holds()) return true;
    return false;
  }
}

/** The text of a function that runs in the page: finds what a person can act on by its name; dialogs come first. */
const byName = `(name) => {
  const nameOf = (element) => {
    const label = element.labels?.[0]?.querySelector("span")?.innerText ?? element.labels?.[0]?.innerText;
    return (element.getAttribute("aria-label") ?? label ?? element.innerText ?? "").trim();
  };
  const roots = [...document.querySelectorAll("dialog[open]"), document];
  for (const root of roots) {
    const all = [...root.querySelectorAll("button, a, input, select, textarea, summary, [role]")];
    const shown = all.filter((element) => element.getClientRects().length > 0);
    const found = shown.find((element) => nameOf(element) === name) ?? shown.find((element) => nameOf(element).startsWith(name));
    if (found) return found;
  }
  return null;
}`;
