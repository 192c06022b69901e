/** A tab of Chromium, by the DevTools protocol. */
import type { Protocol } from "./protocol.ts";
import { type Respond, type Spoken, type Tab, type TabEvents, type View, written } from "./tab.ts";

interface Evaluated {
  result: { value?: unknown };
  exceptionDetails?: { exception?: { description?: string }; text: string };
}

interface AccessibleNode {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
}

export class ChromiumTab implements Tab {
  readonly #devtools: Protocol;
  readonly #session: string;
  readonly #target: string;
  #respond: Respond | undefined;

  private constructor(devtools: Protocol, session: string, target: string) {
    this.#devtools = devtools;
    this.#session = session;
    this.#target = target;
  }

  /** @param isolated shares no cookies with others */
  static async open(devtools: Protocol, isolated: boolean, events: TabEvents): Promise<ChromiumTab> {
    const context = isolated
      ? await devtools.send<{ browserContextId: string }>("Target.createBrowserContext")
      : {};
    const { targetId } = await devtools.send<{ targetId: string }>("Target.createTarget", {
      url: "about:blank",
      ...context,
    });
    const { sessionId } = await devtools.send<{ sessionId: string }>("Target.attachToTarget", {
      targetId,
      flatten: true,
    });
    const tab = new ChromiumTab(devtools, sessionId, targetId);
    tab.#listen(events);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.#send(`${domain}.enable`);
    return tab;
  }

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

  async go(url: string): Promise<void> {
    const loaded = Promise.withResolvers<void>();
    this.#on("Page.loadEventFired", () => loaded.resolve());
    const { errorText } = await this.#send<{ errorText?: string }>("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    await loaded.promise;
  }

  async answer(respond: Respond | undefined): Promise<void> {
    this.#respond = respond;
    await this.#send(
      respond ? "Fetch.enable" : "Fetch.disable",
      respond && { patterns: [{ urlPattern: "*" }] },
    );
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#send<Evaluated>("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async hover(x: number, y: number): Promise<void> {
    await this.#send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  }

  async click(x: number, y: number): Promise<void> {
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
      await this.#send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }

  async type(text: string): Promise<void> {
    await this.#send("Input.insertText", { text });
  }

  async press(key: string, held: readonly string[]): Promise<void> {
    const modifiers = held.reduce((sum, name) => sum + (MODIFIERS[name] ?? 0), 0);
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

  async spoken(): Promise<readonly Spoken[]> {
    const { nodes } = await this.#send<{ nodes: readonly AccessibleNode[] }>("Accessibility.getFullAXTree");
    return nodes
      .filter(({ ignored }) => !ignored)
      .map(({ role, name }) => ({ role: role?.value ?? "", name: (name?.value ?? "").trim() }));
  }

  async screenshot(whole: boolean): Promise<string> {
    const extent = (await this.evaluate(EXTENT)) as { width: number; height: number };
    const { data } = await this.#send<{ data: string }>("Page.captureScreenshot", {
      format: "png",
      captureBeyondViewport: whole,
      ...(whole && { clip: { ...extent, x: 0, y: 0, scale: 1 } }),
    });
    return data;
  }

  async close(): Promise<void> {
    await this.#devtools.send("Target.closeTarget", { targetId: this.#target });
  }

  #listen({ fault, asked }: TabEvents): void {
    this.#on<{ request: { url: string } }>("Network.requestWillBeSent", ({ request }) => {
      if (/^(https?|wss?):/.test(request.url)) asked(new URL(request.url).host);
    });
    this.#on<{ type: string; args: { value?: unknown; description?: string }[] }>(
      "Runtime.consoleAPICalled",
      ({ type, args }) => {
        if (type !== "error" && type !== "warning" && type !== "assert") return;
        fault(args.map(({ value, description }) => String(value ?? description)).join(" "));
      },
    );
    this.#on<{ exceptionDetails: { text: string; exception?: { description?: string } } }>(
      "Runtime.exceptionThrown",
      ({ exceptionDetails: { text, exception } }) => fault(exception?.description ?? text),
    );
    this.#on<{ entry: { level: string; text: string; url?: string } }>("Log.entryAdded", ({ entry }) => {
      if (entry.level === "error") fault(`${entry.text} ${entry.url ?? ""}`.trim());
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
    const { status, headers, text } = written(answer);
    const fulfilled = this.#send("Fetch.fulfillRequest", {
      requestId,
      responseCode: status,
      responseHeaders: headers,
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

const EXTENT =
  "({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight })";
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
