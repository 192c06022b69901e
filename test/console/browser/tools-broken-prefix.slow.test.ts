/** The page Cache in Chromium, on a gateway whose client changes its system prompt in the middle of a conversation. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CacheReport } from "../../../src/operator/index.ts";
import { dollars } from "../../../src/console/numbers/money.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(180_000);

const LONG = "The gateway keeps the order of its blocks. ".repeat(300);
const TOKENS = 4_000;

/** A provider that caches whole prompts by their system prompt. */
function cachingProvider(): Upstream {
  const cached = new Set<string>();
  return startUpstream(({ body }) => {
    const { system } = JSON.parse(body.toString()) as { system: unknown };
    const name = JSON.stringify(system);
    const isCached = cached.has(name);
    cached.add(name);
    return json({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "big", stop_reason: "end_turn" },
      content: [{ type: "text", text: "Yes." }],
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: isCached ? TOKENS : 0,
        cache_creation_input_tokens: isCached ? 0 : TOKENS,
        output_tokens: 2,
      },
    });
  });
}

describe.skipIf(missingChromium !== undefined)(`Chromium (${missingChromium ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;
  let upstream: Upstream;

  beforeAll(async () => {
    upstream = cachingProvider();
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        config: {
          providers: { host: { baseUrl: upstream.url, speaks: "messages", models: ["big"] } },
          prices: { "host/*": { input: 10, output: 20, cacheRead: 1, cacheWrite: 12.5 } },
        },
      }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
    upstream?.stop();
  });

  test("the page names the section that broke the cache, and what it cost", async () => {
    const messages: object[] = [];
    for (const version of ["first", "first", "second"]) {
      messages.push({ role: "user", content: `Again: ${messages.length}` });
      const system = [
        { type: "text", text: LONG },
        { type: "text", text: `Edition: ${version}` },
      ];
      const response = await fetch(`${stage.url}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-session-id": "build-17" },
        body: JSON.stringify({ model: "host/big", max_tokens: 10, system, messages }),
      });
      expect(await response.text()).toContain("Yes.");
      messages.push({ role: "assistant", content: "Yes." });
    }
    const page = await stage.open(browser, "/cache?by=model");
    await page.waitForText("1 broken prefix cost", ".say");
    const { total } = await stage.api.send<CacheReport>("GET", "/cache?by=model");
    expect(await page.text(".say")).toContain(dollars(total.lostCost));
    expect(await page.text(".say")).toContain("system[1] changed");
    await page.click("section[aria-label='Conversations that lost most'] tr[tabindex]");
    const text = await page.waitForText("read anew", ".opened");
    expect(text).toContain(`system[1] changed: 4,000 tokens read anew, for ${dollars(total.lostCost)} more.`);
    expect(text).toContain("Put what changes with each call");
    expect(await page.sideways()).toBe(0);
    expect(page.faults).toEqual([]);
    await page.click(".session-calls .broken a");
    await page.waitForText("host");
    await page.close();
  });
});
