/** The page of alerts: webhooks, what became of the last alerts, a test, and the way to it from Now. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ask, until } from "../../helpers/serving.ts";
import { startReceiver } from "../../helpers/telemetry.ts";
import { json, startUpstream } from "../../helpers/upstream.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const rows = (panel: string) =>
  `[...document.querySelectorAll('[aria-label="${panel}"] tbody tr')].map((row) => row.innerText)`;

describe.skipIf(missingChromium !== undefined)(`alerts (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let empty: Stage;
  let broken = true;
  const hook = startReceiver();
  const gone = startReceiver(() => 410);
  const vendor = startUpstream(() =>
    broken
      ? json({ error: { message: "no such key" } }, 401)
      : json({ choices: [{ message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] }),
  );

  beforeAll(async () => {
    const provider = { baseUrl: `${vendor.url}/v1`, speaks: "chat-completions", models: ["m"], apiKey: "k" };
    [browser, stage, empty] = await Promise.all([
      startBrowser(),
      startStage({
        workers: 2,
        config: {
          alerts: [{ to: `${hook.url}/hook/token-canary` }, { to: gone.url, events: ["credential"] }],
          providers: { host: provider },
          retries: { attempts: 1 },
        },
      }),
      startStage(),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([stage?.end(), empty?.end(), hook.stop(), gone.stop()]);
    vendor.stop();
  });

  test("M23: webhooks are listed without their secrets, and a test shows whether they take it", async () => {
    const page = await stage.open(browser, "/alerts");
    await page.waitForText("No alert was sent");
    expect(await page.text("main")).toContain(`${hook.url}/…`);
    expect(await page.text("main")).not.toContain("canary");
    const press = (n: number) =>
      page.evaluate(`document.querySelectorAll('[aria-label="Webhooks"] tbody button')[${n}].click()`);
    await press(0);
    await page.waitFor(`${rows("Last alerts")}.length === 1`);
    expect(hook.received.map(({ path }) => path)).toEqual(["/hook/token-canary"]);
    expect(JSON.parse(hook.received[0]!.body)).toMatchObject({ event: "test", subject: "gateway" });
    await press(1);
    await page.waitForText("failed: it answers 410", '[aria-label="Webhooks"]');
    const [second, first] = await page.evaluate<string[]>(rows("Last alerts"));
    expect(first).toContain("delivered");
    expect(second).toContain("failed: it answers 410");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("M23: a note on Now leads to the alert that fired, with what became of it at each webhook", async () => {
    await ask(stage.url, "host/m");
    expect(await until(() => hook.received.length === 2, 20_000)).toBe(true);
    const page = await stage.open(browser, "/");
    await page.waitForText("Its alert");
    await page.click("=Its alert");
    await page.waitFor(`document.querySelector('[aria-label="Last alerts"] tr[aria-selected="true"]')`);
    const text = await page.text('tr[aria-selected="true"]');
    expect(text).toContain("host refuses weir's credential");
    expect(text).toContain("goes on");
    expect(text).toContain("delivered");
    expect(text).toContain("failed: it answers 410");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("M23: what ended is over, and a keeper that is killed has forgotten nothing", async () => {
    broken = false;
    const page = await stage.open(browser, "/alerts");
    await page.waitForText("goes on");
    expect(stage.run("reload").code).toBe(0);
    const over = async () => {
      await ask(stage.url, "host/m");
      return (await page.text("main")).includes("over after");
    };
    expect(await until(over, 120_000)).toBe(true);
    const before = await page.evaluate<string[]>(rows("Last alerts"));
    process.kill(stage.keeper()!, "SIGKILL");
    const again = async () => {
      const { alerts } = await stage.api
        .send<{ alerts: unknown[] }>("GET", "/alerts")
        .catch(() => ({ alerts: [] }));
      return alerts.length;
    };
    expect(await until(async () => (await again()) >= before.length, 30_000)).toBe(true);
    const { code, output } = stage.run("alerts", "list");
    expect(code).toBe(0);
    expect(output).toMatch(/credential .* over after .* delivered/);
    await page.close();
  });

  test("M23: without a webhook the page shows how to name one, and no test can be sent", async () => {
    const page = await empty.open(browser, "/alerts");
    await page.waitForText("No webhook.");
    expect(await page.text("main")).toContain("- to: https://");
    expect(await page.text("main")).not.toContain("Send a test");
    await page.close();
  });
});
