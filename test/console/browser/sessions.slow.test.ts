/** Sessions as conversations: the list, one from top to bottom, and what a read key sees. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../helpers/serving.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(240_000);

const HOSTILE = "<img src=x onerror=\"document.title='taken'\">";

interface Message {
  role: string;
  content: string;
}

async function say(stage: Stage, session: string, messages: readonly Message[]): Promise<string> {
  const response = await fetch(`${stage.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-session-id": session },
    body: JSON.stringify({ model: "mock/echo", stream: true, messages }),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  await until(async () => (await stage.api.send("GET", `/calls/${id}`).catch(() => undefined)) !== undefined);
  return id;
}

interface Listed {
  sessions: { session: string; count: number; cost: number }[];
}
interface Begun {
  words: Record<string, string>;
}

describe.skipIf(missingChromium !== undefined)(`sessions (${missingChromium ?? "in Chromium"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({
        config: {
          capture: { header: false, share: 1 },
          // The mock reports no cache: the budget makes weir note sessions.
          budgets: { conversation: { on: "session", limit: 2, every: "total" } },
        },
      }),
    ]);
    const first = { role: "user", content: `Repair the boat ${HOSTILE}` };
    const echoed = { role: "assistant", content: first.content };
    await say(stage, "sess-5", [first]);
    await say(stage, "sess-5", [first, echoed, { role: "user", content: "And the oars" }]);
    await say(stage, "sess-6", [{ role: "user", content: "Something else" }]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  test("S15: the list has its words, turns and cost, and hostile words stay text", async () => {
    const page = await stage.open(browser, "/sessions");
    const text = await page.waitForText(/Repair the boat/);
    expect(text).toContain(HOSTILE);
    expect(text).toContain("Something else");
    expect(await page.evaluate<string>("document.title")).not.toContain("taken");
    expect(await page.evaluate<number>("document.querySelectorAll('main img').length")).toBe(0);
    expect(await page.evaluate<number>("document.querySelectorAll('main tbody tr').length")).toBe(2);
    expect(await page.violations()).toEqual([]);
    await page.close();
  });

  test("S15: a session reads from top to bottom, each turn with what is new, and its sum is that of its calls", async () => {
    const { sessions } = await stage.api.send<Listed>("GET", "/sessions");
    const { words } = await stage.api.send<Begun>("GET", "/session-words");
    const one = sessions.find(({ session }) => words[session]?.startsWith("Repair"))!;
    const { turns, cost } = await stage.api.send<{ cost: number; turns: { cost: number }[] }>(
      "GET",
      `/sessions/${one.session}`,
    );
    expect(turns.reduce((sum, turn) => sum + turn.cost, 0)).toBe(cost);
    expect(one).toMatchObject({ count: 2, cost });
    const page = await stage.open(browser, `/sessions/${one.session}`);
    await page.waitForText("And the oars");
    const second = await page.text(".session > li:nth-child(2)");
    expect(second).toContain("And the oars");
    // The first message and its answer are in the first turn alone.
    expect(second.split("\nanswer")[0]).not.toContain("Repair the boat");
    expect(await page.text(".session > li:nth-child(1)")).toContain(HOSTILE);
    expect(await page.evaluate<number>("document.querySelectorAll('main img').length")).toBe(0);
    expect(await page.violations()).toEqual([]);
    await page.close();
  });

  test("S15: a read key sees the counts and no words", async () => {
    const { sessions } = await stage.api.send<Listed>("GET", "/sessions");
    expect(JSON.stringify(sessions)).not.toContain("Repair");
    const made = await stage.api.send<{ secret: string }>("POST", "/keys", {
      body: { name: "looker", kind: "read" },
    });
    const asks = (path: string) =>
      fetch(`${stage.admin.url}/admin/v1${path}`, { headers: { authorization: `Bearer ${made.secret}` } });
    const at = `/sessions/${sessions[0]!.session}`;
    expect((await asks(at)).status).toBe(200);
    expect((await asks(`${at}/talk`)).status).toBe(403);
    expect((await asks("/session-words")).status).toBe(403);
  });

  test("S10: a captured call shows its conversation, then its bodies as indented JSON", async () => {
    const id = await say(stage, "sess-7", [{ role: "user", content: `Look at ${HOSTILE}` }]);
    const page = await stage.open(browser, `/calls/${id}`);
    await page.waitForText("Show them");
    await page.click("=Show them");
    await page.waitForText("answer", ".talk");
    expect(await page.text(".talk")).toContain(HOSTILE);
    await page.click("=Request");
    await page.waitForText('"messages": [', ".tree");
    expect(await page.evaluate<number>("document.querySelectorAll('main img').length")).toBe(0);
    await page.close();
  });
});
