/** Capture on demand in the console: of a session, of a key, the list of it, and where the config forbids it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../helpers/serving.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

async function say(stage: Stage, key: string, content: string): Promise<{ id: string; session: string }> {
  const response = await fetch(`${stage.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", "x-session-id": "sess-5" },
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content }] }),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  let call: { session: string } | undefined;
  await until(
    async () =>
      (call = await stage.api.send<{ session: string }>("GET", `/calls/${id}`).catch(() => undefined)) !==
      undefined,
  );
  return { id, session: call!.session };
}

describe.skipIf(missingChromium !== undefined)(`capture (${missingChromium ?? "in the browser"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let key: string;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([startBrowser(), startStage()]);
    key = stage.createKey("alice");
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  test("8: a session is captured from a click on, the store page lists it, and a click ends it", async () => {
    const { session } = await say(stage, key, "Before the click");
    const page = await stage.open(browser, `/sessions/${session}`);
    await page.waitForText("Capture this session for 1 h");
    await page.click("=Capture this session for 1 h");
    await page.waitForText(/Captured until \d\d:\d\d/);
    await say(stage, key, "After the click");
    await page.close();
    const later = await stage.open(browser, `/sessions/${session}`);
    const text = await later.waitForText("After the click");
    expect(text).not.toContain("Before the click");
    expect(await later.violations()).toEqual([]);
    await later.close();
    const store = await stage.open(browser, "/store");
    expect(await store.waitForText("Captured on demand")).toContain(session);
    await store.waitForText(`began to capture the session ${session}`);
    expect(await store.violations()).toEqual([]);
    await store.click("=Stop");
    await until(async () => !(await store.text("main")).includes("Captured on demand"));
    expect(await stage.api.send<object>("GET", "/capture/rules")).toEqual({ rules: [] });
    await store.close();
  });

  test("9: a call whose bodies are not kept offers to capture its key", async () => {
    const { id } = await say(stage, key, "No body of this one");
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText("Capture this key for 1 h");
    await page.click("=Capture this key for 1 h");
    await page.waitForText(/Captured until/);
    const next = await say(stage, key, "The body of this one");
    expect(
      await until(
        async () => (await stage.api.send<{ captured?: true }>("GET", `/calls/${next.id}`)).captured === true,
      ),
    ).toBe(true);
    await page.click("=Stop capturing");
    await page.waitForText("Capture this key for 1 h");
    await page.close();
  });

  test("9: where the config forbids it the button names the option", async () => {
    const { id } = await say(stage, key, "One more");
    stage.configure(JSON.stringify({ capture: { onDemand: false } }));
    expect(stage.run("reload").code).toBe(0);
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText("Capture this key for 1 h");
    const buttons = `[...document.querySelectorAll("main button")].filter((one) => one.textContent.startsWith("Capture this"))`;
    expect(await page.evaluate<string[]>(`${buttons}.map((one) => one.disabled + " " + one.title)`)).toEqual([
      "true capture.onDemand is off in the config.",
      "true capture.onDemand is off in the config.",
    ]);
    await page.close();
  });
});
