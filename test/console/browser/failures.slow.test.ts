/** Why calls failed, as the console says it: with providers that fail. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { completion } from "../../books/stress.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const BUSY = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const LOCKED = { error: { code: "invalid_api_key", message: "Incorrect API key provided." } };
const LIMITED = { error: { code: "rate_limit_exceeded", message: "Rate limit reached for requests." } };

describe.skipIf(missingChromium !== undefined)(`failures (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;
  const hosts: Upstream[] = [];

  function host(answer: Parameters<typeof startUpstream>[0]) {
    const upstream = startUpstream(answer);
    hosts.push(upstream);
    return {
      ...{ baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] },
      apiKey: "vendor-key-0123456789",
    };
  }

  beforeAll(async () => {
    const providers = {
      well: host(() => json(completion())),
      busy: host(() => json(BUSY, 529)),
      locked: host(() => json(LOCKED, 401)),
      limited: host(() => json(LIMITED, 429, { "retry-after": "300" })),
    };
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        config: {
          providers,
          circuitBreaker: { enabled: false },
          prices: { "*": { input: 3, output: 15 } },
          routes: { chain: ["busy/m", { model: "well/m", priority: 1 }] },
        },
      }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
    for (const upstream of hosts) upstream.stop();
  });

  test("S4: a call that was retried says in its sentence and its waterfall what the provider answered", async () => {
    const { id, status } = await stage.call("chain");
    expect(status).toBe(200);
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText(/^busy answered 529( twice)?, well answered in .+, for/, ".say");
    expect(await page.text(".wf")).toContain("529 overloaded_error: Overloaded");
    await page.waitForText("try 1: 529 overloaded_error: Overloaded", ".detail");
    expect(page.faults).toEqual([]);
    await page.close();
  });

  test("S4: from Now, a failed call names vendor, status and sentence with one click, and what to do", async () => {
    const { id } = await stage.call("locked/m");
    const page = await stage.open(browser, "/");
    await page.waitFor(`document.querySelector('tr[data-id="${id}"]')`);
    await page.click(`tr[data-id="${id}"]`);
    const said = await page.waitForText("locked answered 401 invalid_api_key: Incorrect API key", ".say");
    expect(said).toContain("The client got 502 upstream_auth after");
    expect(said).toContain("locked does not accept weir's credential: renew it.");
    await page.close();
  });

  test("S4: a rate limit of a provider says for how long it asked to wait", async () => {
    const { id } = await stage.call("limited/m");
    const page = await stage.open(browser, `/calls/${id}`);
    const said = await page.waitForText(
      "429 rate_limit_exceeded: Rate limit reached for requests. The",
      ".say",
    );
    expect(said).toMatch(/It is a limit of the account at limited, which asked for a pause of (5 min|300 s)/);
    await page.close();
  });
});
