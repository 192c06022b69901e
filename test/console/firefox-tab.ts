/** A tab of Firefox, by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). */
import type { Protocol } from "./protocol.ts";
import { type Respond, type Tab, type TabEvents, type View, written } from "./tab.ts";

/** A value of the page: objects and arrays are lists of such values. */
interface Remote {
  type: string;
  value?: unknown;
}

interface Blocked {
  isBlocked?: boolean;
  request: { request: string; url: string; method: string };
}

const EVENTS = ["network.beforeRequestSent", "log.entryAdded"];
const HAS_CONTENT = /^(https?|wss?):/;

export class FirefoxTab implements Tab {
  readonly #bidi: Protocol;
  readonly #context: string;
  #respond: Respond | undefined;
  #intercept: string | undefined;

  private constructor(bidi: Protocol, context: string) {
    this.#bidi = bidi;
    this.#context = context;
  }

  /** @param isolated shares no cookies with others */
  static async open(bidi: Protocol, isolated: boolean, events: TabEvents): Promise<FirefoxTab> {
    const user = isolated ? await bidi.send<{ userContext: string }>("browser.createUserContext") : {};
    const { context } = await bidi.send<{ context: string }>("browsingContext.create", {
      type: "tab",
      ...user,
    });
    const tab = new FirefoxTab(bidi, context);
    tab.#listen(events);
    await bidi.send("session.subscribe", { events: EVENTS, contexts: [context] });
    // BiDi has no event for what the policy refuses.
    await bidi.send("script.addPreloadScript", {
      contexts: [context],
      functionDeclaration: `() => addEventListener("securitypolicyviolation", (event) =>
        console.error("the Content Security Policy refuses " + event.violatedDirective + " " + event.blockedURI))`,
    });
    return tab;
  }

  async view({ width = 1440, height = 900, dark = false, headers }: View): Promise<void> {
    const ratio = width < 600 ? 2 : 1;
    await this.#send("browsingContext.setViewport", {
      viewport: { width, height },
      devicePixelRatio: ratio,
    });
    // The system's colours are those of the profile: the page is given what a person chooses in it.
    await this.#send("script.addPreloadScript", {
      contexts: [this.#context],
      functionDeclaration: `() => { try { if (${dark}) localStorage.setItem("weir.theme", "dark"); } catch {} }`,
    });
    if (!headers) return;
    const given = Object.entries(headers).map(([name, value]) => ({ name, value: text(value) }));
    await this.#bidi.send("network.setExtraHeaders", { headers: given, contexts: [this.#context] });
  }

  async go(url: string): Promise<void> {
    await this.#send("browsingContext.navigate", { url, wait: "complete" });
  }

  async answer(respond: Respond | undefined): Promise<void> {
    this.#respond = respond;
    if (respond && this.#intercept === undefined) {
      const { intercept } = await this.#bidi.send<{ intercept: string }>("network.addIntercept", {
        phases: ["beforeRequestSent"],
        contexts: [this.#context],
      });
      this.#intercept = intercept;
    }
    if (respond || this.#intercept === undefined) return;
    await this.#bidi.send("network.removeIntercept", { intercept: this.#intercept });
    this.#intercept = undefined;
  }

  async evaluate(expression: string): Promise<unknown> {
    const evaluated = await this.#bidi.send<{
      result?: Remote;
      exceptionDetails?: { text: string };
    }>("script.evaluate", {
      expression,
      target: { context: this.#context },
      awaitPromise: true,
      resultOwnership: "none",
    });
    const { exceptionDetails, result } = evaluated;
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result && valueOf(result);
  }

  async hover(x: number, y: number): Promise<void> {
    await this.#act(mouse([{ type: "pointerMove", ...whole(x, y) }]));
  }

  async click(x: number, y: number): Promise<void> {
    const press = { type: "pointerDown", button: 0 };
    const release = { type: "pointerUp", button: 0 };
    await this.#act(mouse([{ type: "pointerMove", ...whole(x, y) }, press, release]));
  }

  async type(written: string): Promise<void> {
    await this.#act(keyboard([...written].flatMap(stroke)));
  }

  async press(key: string, held: readonly string[]): Promise<void> {
    const down = held.map((name) => ({ type: "keyDown", value: CODES[name]! }));
    const up = held.map((name) => ({ type: "keyUp", value: CODES[name]! })).reverse();
    await this.#act(keyboard([...down, ...stroke(key), ...up]));
  }

  spoken(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async screenshot(isWhole: boolean): Promise<string> {
    const origin = isWhole ? "document" : "viewport";
    const { data } = await this.#send<{ data: string }>("browsingContext.captureScreenshot", { origin });
    return data;
  }

  async close(): Promise<void> {
    await this.#send("browsingContext.close");
  }

  #listen({ fault, asked }: TabEvents): void {
    this.#bidi.on<Blocked>(this.#context, "network.beforeRequestSent", (event) => {
      const { url, method, request } = event.request;
      if (HAS_CONTENT.test(url)) asked(new URL(url).host);
      if (event.isBlocked) void this.#fulfil(request, new URL(url), method);
    });
    this.#bidi.on<{ level: string; text?: string }>(this.#context, "log.entryAdded", (entry) => {
      if (entry.level === "error" || entry.level === "warn") fault(entry.text ?? "");
    });
  }

  async #fulfil(request: string, url: URL, method: string): Promise<void> {
    const answer = this.#respond?.(url, method);
    if (answer === "never") return;
    const done = !answer
      ? this.#bidi.send("network.continueRequest", { request })
      : answer === "away"
        ? this.#bidi.send("network.failRequest", { request })
        : this.#bidi.send("network.provideResponse", { request, ...provided(written(answer)) });
    // The page may have given up meanwhile.
    await done.catch(() => {});
  }

  async #act(source: object): Promise<void> {
    await this.#send("input.performActions", { actions: [source] });
  }

  #send<Result>(method: string, params: object = {}): Promise<Result> {
    return this.#bidi.send<Result>(method, { context: this.#context, ...params });
  }
}

function provided({ status, headers, text: body }: ReturnType<typeof written>): object {
  return {
    statusCode: status,
    reasonPhrase: "OK",
    headers: headers.map(({ name, value }) => ({ name, value: text(value) })),
    body: text(body),
  };
}

function text(value: string) {
  return { type: "string", value };
}

function whole(x: number, y: number) {
  return { x: Math.round(x), y: Math.round(y) };
}

function mouse(actions: readonly object[]) {
  return { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions };
}

function keyboard(actions: readonly object[]) {
  return { type: "key", id: "keyboard", actions };
}

function stroke(key: string) {
  const value = CODES[key] ?? key;
  return [
    { type: "keyDown", value },
    { type: "keyUp", value },
  ];
}

/** @throws Error for what has no JSON */
function valueOf({ type, value }: Remote): unknown {
  if (type === "undefined") return undefined;
  // What has no JSON, as a response of `fetch`; no test reads it.
  if (value === undefined) return {};
  if (type === "null") return null;
  if (type === "array") return (value as Remote[]).map(valueOf);
  if (type === "object")
    return Object.fromEntries((value as [string, Remote][]).map(([name, one]) => [name, valueOf(one)]));
  if (type === "number" && typeof value === "string") return Number(value.replace("-0", "0"));
  if (type === "string" || type === "number" || type === "boolean") return value;
  // Elements and functions: the test asks only whether there is one.
  return {};
}

/** Keys that are no characters (https://www.w3.org/TR/webdriver2/#keyboard-actions). */
const CODES: Readonly<Record<string, string>> = {
  Backspace: "\uE003",
  Tab: "\uE004",
  Enter: "\uE007",
  Shift: "\uE008",
  Control: "\uE009",
  Alt: "\uE00A",
  Escape: "\uE00C",
  ArrowLeft: "\uE012",
  ArrowUp: "\uE013",
  ArrowRight: "\uE014",
  ArrowDown: "\uE015",
  Meta: "\uE03D",
};
