/** The page Now while a thousand calls end each second. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

const CALLS_A_SECOND = 1_000;
const SECONDS = 8;
/** Frames a second that the page should reach on a machine of its own; the browser, the gateway and the load share this one. */
const FRAMES = 30;

/** Makes calls at a steady pace. @returns how many ended well */
async function flood(url: string): Promise<number> {
  const body = JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hi" }] });
  let ended = 0;
  const call = async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      ...{ method: "POST", body },
      headers: { "content-type": "application/json" },
    });
    await response.arrayBuffer();
    if (response.ok) ended++;
  };
  const running: Promise<void>[] = [];
  const began = performance.now();
  for (let sent = 0; sent < CALLS_A_SECOND * SECONDS;) {
    const due = Math.floor(((performance.now() - began) / 1_000) * CALLS_A_SECOND);
    for (; sent < Math.min(due, CALLS_A_SECOND * SECONDS); sent++) running.push(call());
    await Bun.sleep(10);
  }
  await Promise.all(running);
  return ended;
}

describe.skipIf(missingChromium !== undefined)(
  `a flood of calls (Chromium ${missingChromium ?? "present"})`,
  () => {
    let browser: Browser;
    let stage: Stage;

    beforeAll(async () => {
      [browser, stage] = await Promise.all([startBrowser(), startStage()]);
    });

    afterAll(async () => {
      await browser?.close();
      await stage?.end();
    });

    test("is thinned, and the page goes on drawing", async () => {
      await stage.call("mock/echo");
      const page = await stage.open(browser, "/");
      await page.waitForText("Just ended");
      await page.evaluate(`(() => {
      window.frames_ = 0;
      const count = () => { window.frames_++; requestAnimationFrame(count); };
      requestAnimationFrame(count);
    })()`);
      const before = await page.evaluate<number>("window.frames_");
      const began = performance.now();
      const ended = await flood(stage.url);
      const seconds = (performance.now() - began) / 1_000;
      const frames = ((await page.evaluate<number>("window.frames_")) - before) / seconds;
      const rows = await page.evaluate<number>(`document.querySelectorAll("[data-id]").length`);
      console.log(
        `${Math.round(ended / seconds)} calls/s: ${frames.toFixed(0)} frames/s (wanted: ${FRAMES}), ${rows} rows in the page`,
      );
      expect(ended).toBe(CALLS_A_SECOND * SECONDS);
      expect(rows).toBeGreaterThan(0);
      expect(rows).toBeLessThanOrEqual(600);
      expect(frames).toBeGreaterThan(FRAMES / 10);
      expect(page.faults).toEqual([]);
      await page.close();
    });
  },
);
