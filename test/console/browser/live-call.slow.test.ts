/** A running call in the console: the answer as it comes, two tabs, a client that leaves, and the page of the ended call by itself. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Spoken, startSpokenVendor } from "../../helpers/spoken-vendor.ts";
import { until } from "../../helpers/serving.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const HOSTILE = "<img src=x onerror=\"document.title='taken'\">";
const SECRET = "sk-proj-pastedpastedpasted0123456789";

describe.skipIf(missingChromium !== undefined)(
  `a running call (${missingChromium ?? "in the browser"})`,
  () => {
    const vendor = startSpokenVendor();
    let browser: Browser;
    let stage: Stage;
    let asked = 0;

    beforeAll(async () => {
      [browser, stage] = await Promise.all([
        startBrowser(),
        startStage({
          workers: 2,
          config: {
            providers: { own: { baseUrl: `${vendor.url}/v1`, speaks: "chat-completions", models: ["m"] } },
            prices: { "own/m": { input: 3, output: 15 } },
          },
        }),
      ]);
      // Without a call the first page shows the first steps.
      const { id, response, answer } = await begin();
      answer.end();
      await response.text();
      await until(
        async () => (await stage.api.send("GET", `/calls/${id}`).catch(() => undefined)) !== undefined,
      );
    });

    afterAll(async () => {
      await browser?.close();
      await stage?.end();
      vendor.stop();
    });

    async function begin(): Promise<{ id: string; response: Response; answer: Spoken; leave(): void }> {
      const content = `question ${++asked}`;
      const leaving = new AbortController();
      const asking = fetch(`${stage.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "own/m", stream: true, messages: [{ role: "user", content }] }),
        signal: leaving.signal,
      });
      const answer = await vendor.answer(content);
      answer.say("First ");
      const response = await asking;
      return { id: response.headers.get("x-request-id")!, response, answer, leave: () => leaving.abort() };
    }

    test("live view: from Now a click opens it, words appear as they are said, and it becomes the ended call by itself", async () => {
      const { id, response, answer } = await begin();
      const page = await stage.open(browser, "/");
      await page.waitForText("longest first");
      await page.click(`main a[href$="/calls/${id}"]`);
      await page.waitForText("Runs: streaming");
      answer.think("Let me see. ");
      await page.waitForText("Let me see.", ".talk");
      answer.say(`Look: ${HOSTILE} and `);
      await page.waitForText(HOSTILE, ".talk");
      for (const sign of SECRET) answer.say(sign);
      answer.say(" is a secret. ");
      await page.waitForText("*** is a secret.", ".talk");
      answer.call(0, '{"command": "ls', "bash");
      answer.call(0, ' -l"}');
      const text = await page.waitForText(/bash[^]*"command": "ls/, ".talk");
      expect(text).not.toContain("pasted");
      await page.waitForText(/tokens so far[^]*\$/);
      expect(await page.evaluate<number>("document.querySelectorAll('main img').length")).toBe(0);
      expect(await page.violations()).toEqual([]);
      answer.end();
      await response.text();
      await page.waitForText("Money");
      expect(await page.text("main")).not.toContain("Runs:");
      expect(await page.evaluate<string>("location.pathname")).toEndWith(`/calls/${id}`);
      await page.close();
    });

    test("live view: two tabs see the same, and a client that leaves ends both", async () => {
      const { id, response, answer, leave } = await begin();
      const tabs = [await stage.open(browser, `/calls/${id}`)];
      await tabs[0]!.waitForText("Runs: streaming");
      answer.say("Words for two tabs. ");
      await tabs[0]!.waitForText("Words for two tabs.");
      tabs.push(await stage.open(browser, `/calls/${id}`));
      for (const tab of tabs) await tab.waitForText("Words for two tabs.");
      leave();
      await response.text().catch(() => {});
      for (const tab of tabs) {
        await tab.waitForText("Money");
        await tab.close();
      }
    });

    test("live view: a key that only reads sees how far the call is and not its text, and then the ended call", async () => {
      const { id, response, answer } = await begin();
      const body = { name: "looker", kind: "read" };
      const { secret } = await stage.api.send<{ secret: string }>("POST", "/keys", { body });
      const page = await stage.open(browser, "/config");
      const headers = { "content-type": "application/json", "x-weir-console": "1" };
      const signIn = { method: "POST", headers, body: JSON.stringify({ key: secret }) };
      const status = `fetch("/admin/v1/session", ${JSON.stringify(signIn)}).then((one) => one.status)`;
      expect(await page.evaluate<number>(status)).toBeLessThan(300);
      await page.evaluate(`void location.assign("/console/calls/${id}")`);
      answer.say("The words of the answer. ");
      await page.waitForText("This key sees how far the call is");
      expect(await page.text("main")).toMatch(/Runs: streaming[^]*tokens so far/);
      expect(await page.text("main")).not.toContain("The words");
      answer.end();
      await response.text();
      await page.waitForText("Money");
      await page.close();
    });

    test("live view: the keeper is killed while a tab watches, and the tab goes on by itself", async () => {
      const { id, response, answer } = await begin();
      const page = await stage.open(browser, `/calls/${id}`);
      await page.waitForText("Runs: streaming");
      answer.say("Before it. ");
      await page.waitForText("Before it.");
      process.kill(stage.keeper()!, "SIGKILL");
      const says = setInterval(() => answer.say("After it. "), 300);
      await page.waitForText("After it. After it.");
      clearInterval(says);
      answer.end();
      expect(await response.text()).toContain("[DONE]");
      await page.waitForText("Money");
      await page.close();
    });

    test("live view: a call that does not exist says so", async () => {
      const page = await stage.open(browser, "/calls/req_0000000000000000000000");
      await page.waitForText("No call has this id.");
      await page.close();
    });
  },
);
