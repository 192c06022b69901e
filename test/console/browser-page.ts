/** A tab of Chromium: what a person does in it, and what it did by itself. */
import { readFileSync } from "node:fs";
import type { DevTools } from "./devtools.ts";

export interface View {
  /** Default: 1440. */
  width?: number;
  /** Default: 900. */
  height?: number;
  dark?: boolean;
  /** Sent with each request, such as `authorization`. */
  headers?: Readonly<Record<string, string>>;
}

/** An answer in place of the server's. `never`: there is none yet; `away`: there is no connection. */
export type Answer =
  | { status?: number; type?: string; headers?: Readonly<Record<string, string>>; body: unknown }
  | "never"
  | "away";

/** What axe-core found on a page. */
export interface Violation {
  id: string;
  impact: "minor" | "moderate" | "serious" | "critical";
  help: string;
  /** Selectors of the elements. */
  nodes: string[];
}

type Respond = (url: URL, method: string) => Answer | undefined;

interface Evaluated {
  result: { value?: unknown };
  exceptionDetails?: { exception?: { description?: string }; text: string };
}

/** Time for what a test waits for. Milliseconds. */
const WAIT_MS = 30_000;

export class BrowserPage {
  /** Errors of the console, exceptions, and violations of the content security policy. */
  readonly faults: string[] = [];
  /** `host:port` of every request. */
  readonly hosts = new Set<string>();
  readonly #devtools: DevTools;
  readonly #session: string;
  readonly #target: string;
  #respond: Respond | undefined;

  private constructor(devtools: DevTools, session: string, target: string) {
    this.#devtools = devtools;
    this.#session = session;
    this.#target = target;
  }

  static async attach(devtools: DevTools, targetId: string, view: View): Promise<BrowserPage> {
    const { sessionId } = await devtools.send<{ sessionId: string }>("Target.attachToTarget", {
      targetId,
      flatten: true,
    });
    const page = new BrowserPage(devtools, sessionId, targetId);
    page.#listen();
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.#send(`${domain}.enable`);
    await page.view(view);
    return page;
  }

  /** Size, colours and headers of the page. */
  async view({ width = 1440, height = 900, dark = false, headers }: View): Promise<void> {
    const mobile = width < 600;
    const metrics = { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile };
    await this.#send("Emulation.setDeviceMetricsOverride", metrics);
    await this.#send("Emulation.setTouchEmulationEnabled", { enabled: mobile });
    const features = [
      { name: "prefers-color-scheme", value: dark ? "dark" : "light" },
      { name: "prefers-reduced-motion", value: "reduce" },
    ];
    await this.#send("Emulation.setEmulatedMedia", { features });
    if (headers) await this.#send("Network.setExtraHTTPHeaders", { headers });
  }

  /** Loads an address and waits until its scripts have run. */
  async go(url: string): Promise<void> {
    const loaded = Promise.withResolvers<void>();
    this.#on("Page.loadEventFired", () => loaded.resolve());
    const { errorText } = await this.#send<{ errorText?: string }>("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    await loaded.promise;
  }

  /** Answers requests in place of the server. @param respond undefined from it: the server answers */
  async answer(respond: Respond | undefined): Promise<void> {
    this.#respond = respond;
    await this.#send(
      respond ? "Fetch.enable" : "Fetch.disable",
      respond && { patterns: [{ urlPattern: "*" }] },
    );
  }

  /** The value of an expression in the page; a promise is awaited. @throws Error with the exception */
  async evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.#send<Evaluated>("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value as Value;
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
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
      await this.#send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }

  /** Puts the mouse on an element. */
  async hover(what: string): Promise<void> {
    const place = await this.#placeOf(what);
    await this.#send("Input.dispatchMouseEvent", { type: "mouseMoved", ...place });
  }

  /** Types text where the focus is. */
  async type(text: string): Promise<void> {
    await this.#send("Input.insertText", { text });
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
    const modifiers = parts.reduce((sum, name) => sum + (MODIFIERS[name] ?? 0), 0);
    const code = CODES[key];
    const text = key === "Enter" ? "\r" : key.length === 1 && modifiers === 0 ? key : undefined;
    const pressed = { key, modifiers, ...(code !== undefined && { windowsVirtualKeyCode: code, code: key }) };
    await this.#send("Input.dispatchKeyEvent", {
      type: "keyDown",
      ...pressed,
      ...(text !== undefined && { text }),
    });
    await this.#send("Input.dispatchKeyEvent", { type: "keyUp", ...pressed });
  }

  /** @param path where the PNG is written @param whole also what lies below the window */
  async screenshot(path: string, whole = false): Promise<void> {
    const { data } = await this.#send<{ data: string }>("Page.captureScreenshot", {
      format: "png",
      captureBeyondViewport: whole,
      ...(whole && { clip: { ...(await this.#extent()), x: 0, y: 0, scale: 1 } }),
    });
    await Bun.write(path, Buffer.from(data, "base64"));
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

  /** Pixels by which the page is wider than its window. */
  sideways(): Promise<number> {
    return this.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  }

  async close(): Promise<void> {
    await this.#devtools.send("Target.closeTarget", { targetId: this.#target });
  }

  #extent(): Promise<{ width: number; height: number }> {
    return this.evaluate(
      "({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight })",
    );
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

  #listen(): void {
    this.#on<{ request: { url: string } }>("Network.requestWillBeSent", ({ request }) => {
      if (/^(https?|wss?):/.test(request.url)) this.hosts.add(new URL(request.url).host);
    });
    this.#on<{ type: string; args: { value?: unknown; description?: string }[] }>(
      "Runtime.consoleAPICalled",
      ({ type, args }) => {
        if (type !== "error" && type !== "warning" && type !== "assert") return;
        this.faults.push(args.map(({ value, description }) => String(value ?? description)).join(" "));
      },
    );
    this.#on<{ exceptionDetails: { text: string; exception?: { description?: string } } }>(
      "Runtime.exceptionThrown",
      ({ exceptionDetails: { text, exception } }) => this.faults.push(exception?.description ?? text),
    );
    this.#on<{ entry: { level: string; text: string; url?: string } }>("Log.entryAdded", ({ entry }) => {
      if (entry.level === "error") this.faults.push(`${entry.text} ${entry.url ?? ""}`.trim());
    });
    this.#on<{ requestId: string; request: { url: string; method: string } }>(
      "Fetch.requestPaused",
      ({ requestId, request }) => void this.#fulfil(requestId, new URL(request.url), request.method),
    );
  }

  async #fulfil(requestId: string, url: URL, method: string): Promise<void> {
    const answer = this.#respond?.(url, method);
    if (answer === "never") return;
    if (answer === "away") {
      const failed = this.#send("Fetch.failRequest", { requestId, errorReason: "ConnectionRefused" });
      return void (await failed.catch(() => {}));
    }
    if (!answer) return void (await this.#send("Fetch.continueRequest", { requestId }).catch(() => {}));
    const { status = 200, type = "application/json", headers = {}, body } = answer;
    const given = Object.entries({ "content-type": type, ...headers });
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const fulfilled = this.#send("Fetch.fulfillRequest", {
      requestId,
      responseCode: status,
      responseHeaders: given.map(([name, value]) => ({ name, value })),
      body: Buffer.from(text).toString("base64"),
    });
    // The page may have given up meanwhile.
    await fulfilled.catch(() => {});
  }

  #on<Params>(method: string, receive: (params: Params) => void): void {
    this.#devtools.on(this.#session, method, receive);
  }

  #send<Result>(method: string, params: object = {}): Promise<Result> {
    return this.#devtools.send<Result>(method, params, this.#session);
  }
}

const MODIFIERS: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };
/** Keys that a page knows by their code. */
const CODES: Readonly<Record<string, number>> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
};

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
