/** The bodies of a captured call: five views, JSON that folds by keyboard, the text of streams, and the command with the body. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../helpers/serving.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import type { BrowserPage } from "../browser-page.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const HOSTILE = "<img src=x onerror=\"document.title='taken'\">";
const VIEWS = ["Conversation", "Request", "As sent on", "Provider's answer", "As sent back"];
/** What the page has put on the clipboard. */
const COPIED = "window.copied ?? ''";
const CLIPBOARD = `Object.defineProperty(navigator, "clipboard",
  { value: { writeText: async (text) => void (window.copied = text) } })`;

/** As a person who pastes it. */
function outputOf(command: string): Promise<string> {
  const shell = Bun.spawn(["bash", "-c", command], {
    env: { ...process.env, WEIR_API_KEY: "none" },
    stderr: "ignore",
  });
  return new Response(shell.stdout).text();
}

const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const chunk = (content: string, finish: string | null) =>
  event({
    ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  });

describe.skipIf(missingChromium !== undefined)(`bodies (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let vendor: Bun.Server<undefined>;

  beforeAll(async () => {
    vendor = Bun.serve({
      port: 0,
      fetch: () =>
        new Response(
          chunk("Mend ", null) + chunk(`it. ${HOSTILE}`, null) + chunk("", "stop") + event("[DONE]"),
          {
            headers: { "content-type": "text/event-stream" },
          },
        ),
    });
    const baseUrl = `http://127.0.0.1:${vendor.port}/v1`;
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        config: {
          capture: { share: 1 },
          providers: { vendor: { speaks: "chat-completions", baseUrl, models: ["m"] } },
        },
      }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.end();
    await vendor?.stop(true);
  });

  async function say(path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
    const response = await fetch(stage.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    await response.text();
    const id = response.headers.get("x-request-id")!;
    await until(
      async () => (await stage.api.send("GET", `/calls/${id}`).catch(() => undefined)) !== undefined,
    );
    return id;
  }

  const translated = () =>
    say(
      "/v1/messages",
      {
        ...{ model: "vendor/m", max_tokens: 50, stream: true, system: `It's ${HOSTILE}` },
        messages: [{ role: "user", content: "Repair the boat" }],
      },
      { "anthropic-beta": "tools-2" },
    );

  const opened = async (id: string): Promise<BrowserPage> => {
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText("Show them");
    await page.click("=Show them");
    await page.waitForText("Conversation", "[role=tablist]");
    return page;
  };
  const at = (page: BrowserPage, view: string) => page.click(`=${view}`);
  const PANEL = "[role=tabpanel]";

  test("change 10: five views, each with its own text, and hostile words stay text in all", async () => {
    const page = await opened(await translated());
    expect((await page.text("[role=tablist]")).split("\n")).toEqual(VIEWS);
    await page.waitForText("Repair the boat", PANEL);
    await at(page, "Request");
    await page.waitForText("anthropic-beta: tools-2", PANEL);
    await page.waitForText('"max_tokens": 50', ".tree");
    await at(page, "As sent on");
    await page.waitForText("/v1/chat/completions", PANEL);
    await page.waitForText("What weir changed", PANEL);
    expect(await page.text(".diff")).toContain('"model": "m"');
    await at(page, "Provider's answer");
    await page.waitForText("Mend it.", ".talk");
    expect(await page.text(PANEL)).toContain("Status 200");
    await at(page, "As sent back");
    await page.waitForText("Mend it.", ".talk");
    await page.click("details summary");
    await page.waitForText("content_block_delta", "pre.code");
    for (const view of VIEWS) {
      await at(page, view);
      expect(await page.evaluate<number>("document.querySelectorAll('main img').length")).toBe(0);
    }
    expect(await page.evaluate<string>("document.title")).not.toContain("taken");
    expect(await page.violations()).toEqual([]);
    await page.view({ width: 390, height: 844 });
    for (const view of VIEWS) {
      await at(page, view);
      expect([view, await page.sideways()]).toEqual([view, 0]);
    }
    await page.close();
  });

  test("change 10: JSON folds and unfolds by keyboard, and Copy takes all of it", async () => {
    const page = await opened(await translated());
    await page.evaluate(CLIPBOARD);
    await at(page, "Request");
    await page.waitForText("Repair the boat", ".tree");
    await page.evaluate("document.querySelector('.tree summary').focus()");
    await page.press("Enter");
    await page.waitFor("!document.querySelector('.tree').innerText.includes('Repair the boat')");
    await page.click("=Copy");
    await page.waitFor(`(${COPIED}).includes("Repair the boat")`);
    expect(JSON.parse(await page.evaluate<string>(COPIED))).toMatchObject({ max_tokens: 50 });
    await page.evaluate("document.querySelector('.tree summary').focus()");
    await page.press("Enter");
    await page.waitForText("Repair the boat", ".tree");
    await page.close();
  });

  test("change 10, S10: the command has the whole body and a placeholder for the key, and runs", async () => {
    const page = await opened(await translated());
    await page.evaluate(CLIPBOARD);
    await page.click("=Copy as curl");
    await page.waitFor(`(${COPIED}).startsWith("curl")`);
    const command = await page.evaluate<string>(COPIED);
    expect(command).toContain("$WEIR_API_KEY");
    expect(command).toContain("anthropic-beta: tools-2");
    expect(await outputOf(command)).toContain("Mend ");
    // One of 300 KB does not fit into an argument.
    const long = await say("/v1/chat/completions", {
      model: "mock/echo",
      messages: Array.from({ length: 1_500 }, () => ({ role: "user", content: "It's $HOME" })),
    });
    await page.go(`${stage.admin.url}/console/calls/${long}`);
    await page.waitForText("Copy as curl");
    await page.evaluate(CLIPBOARD);
    await page.click("=Copy as curl");
    await page.waitFor(`(${COPIED}).startsWith("curl")`);
    const second = await page.evaluate<string>(COPIED);
    expect(second.length).toBeGreaterThan(100_000);
    expect(await outputOf(second)).toContain("It's $HOME");
    await page.close();
  });

  test("change 10: of a long conversation the newest turns are drawn, and the others when asked for", async () => {
    const messages = Array.from({ length: 400 }, (_, at) => ({ role: "user", content: `turn-${at}.` }));
    const page = await opened(await say("/v1/chat/completions", { model: "mock/echo", messages }));
    const count = () => page.evaluate<number>("document.querySelectorAll('.talk .turn').length");
    await page.waitForText("turn-399.", ".talk");
    expect(await count()).toBe(101);
    await page.click("=Show 300 earlier turns");
    await page.waitForText("turn-0.", ".talk");
    expect(await count()).toBe(401);
    await page.close();
  });

  test("change 10: a program has nothing sent on; a call that is not kept says which option keeps the next", async () => {
    const body = { model: "mock/echo", messages: [{ role: "user", content: "Hello" }] };
    const page = await opened(await say("/v1/chat/completions", body));
    await at(page, "As sent on");
    await page.waitForText("Nothing went to a provider", PANEL);
    const hidden = await say("/v1/chat/completions", body, { "x-weir-capture": "no" });
    await page.go(`${stage.admin.url}/console/calls/${hidden}`);
    await page.waitForText("share: 1");
    expect(await page.text("main")).toContain("capture:");
    await page.close();
  });

  test("change 10: a read key gets no body", async () => {
    const id = await translated();
    const { secret } = await stage.api.send<{ secret: string }>("POST", "/keys", {
      body: { name: "looker", kind: "read" },
    });
    const response = await fetch(`${stage.admin.url}/admin/v1/calls/${id}/body`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(response.status).toBe(403);
  });
});
