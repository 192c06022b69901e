/** What somebody who signed in with Claude Code learns of budgets: headers, the refusal, and the amounts. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { until as eventually } from "../../../../test/helpers/serving.ts";
import { json, sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { usageOf } from "../claude-code/usage.ts";
import { bearer, IDENTITY, tokenOf } from "./support/signed-in.ts";

setDefaultTimeout(60_000);

const KEY = "weir-planted-call-key-0001";
const MODEL = "claude-sonnet-4-5";
const OF_ACCOUNT = {
  "anthropic-ratelimit-requests-limit": "10",
  "anthropic-ratelimit-unified-status": "allowed",
};

let upstream: Upstream;
let gateway: RunningGateway;

/** The answer has as many tokens as the request permits: at $100 a million, ten of them are a tenth of a cent. */
const answerOf = (body: any) => ({
  ...{ id: "msg_1", type: "message", role: "assistant", model: MODEL, stop_reason: "end_turn" },
  ...{ stop_sequence: null, content: [{ type: "text", text: "ok" }] },
  usage: { input_tokens: 0, output_tokens: body.max_tokens as number },
});

function streamOf(body: any): string[] {
  const { content, stop_reason, usage, ...message } = answerOf(body);
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: content[0]!.text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

beforeAll(async () => {
  upstream = startUpstream((request) => {
    const body = JSON.parse(request.body.toString()) as any;
    return body.stream ? sse(streamOf(body), OF_ACCOUNT) : json(answerOf(body), 200, OF_ACCOUNT);
  });
  const soft = (on: string, every: string, limit: number) => ({ on, every, limit, mode: "soft" });
  gateway = await startGateway({
    config: {
      providers: { anthropic: { baseUrl: upstream.url, apiKey: "sk-ant-planted" } },
      prices: { "anthropic/*": { input: 0, output: 100 } },
      keys: [{ name: "old", key: KEY, path: "/people/key" }],
      budgets: {
        alice: { ...soft("/people/alice", "month", 1), mode: "hard" },
        "alice-day": { ...soft("/people/alice", "day", 2), mode: "hard" },
        bob: soft("/people/bob", "week", 0.01),
        team: soft("/teams/a", "month", 0.01),
        key: soft("/people/key", "month", 0.01),
        ever: soft("/people/ever", "total", 0.01),
        watched: { ...soft("/people/watched", "month", 0.01), mode: "watch" },
      },
      identity: IDENTITY,
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const call = (credential: string, tenths: number, more: object = {}) =>
  fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { ...bearer(credential), "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({
      ...{
        model: MODEL,
        max_tokens: Math.max(1, tenths * 10),
        messages: [{ role: "user", content: "hi" }],
      },
      ...more,
    }),
  });

const usage = (token: string) => fetch(`${gateway.url}/api/oauth/usage`, { headers: bearer(token) });

/** Calls one after the other; each is booked before the next one begins. @returns the last answer */
async function spend(credential: string, tenths: number, more: object = {}): Promise<Response> {
  const answer = await call(credential, tenths, more);
  await answer.clone().text();
  return answer;
}

/** The books learn of a call a moment after its answer: calls until one is refused. */
async function refusal(credential: string): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const answer = await call(credential, 0);
    if (answer.status !== 200 || tries === 50) return answer;
    await answer.text();
    await Bun.sleep(20);
  }
}

const unifiedOf = ({ headers }: Response) =>
  Object.fromEntries(
    [...headers].flatMap(([name, value]) => {
      const [, end] = /^anthropic-ratelimit-(.+)$/.exec(name) ?? [];
      return end === undefined ? [] : [[end.replace(/^unified-/, ""), value]];
    }),
  );

const monthEnd = () => {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
};

test("headers tell the fullest budget, its thresholds, and nothing of the operator's account", async () => {
  const token = await tokenOf("alice");
  const reset = String(monthEnd() / 1000);
  const common = { "representative-claim": "overage", reset, "overage-reset": reset };
  // A stream begins before it is booked; a whole answer is booked when it is told.
  expect(unifiedOf(await spend(token, 1, { stream: true }))).toEqual({
    ...common,
    ...{ status: "allowed", "overage-status": "allowed", "overage-utilization": "0.00" },
  });
  expect(unifiedOf(await spend(token, 748))).toMatchObject({
    ...{ status: "allowed", "overage-utilization": "0.74" },
  });
  expect(unifiedOf(await spend(token, 11))).toMatchObject({ "overage-utilization": "0.76" });
  expect(unifiedOf(await spend(token, 1, { stream: true }))).toEqual({
    ...common,
    ...{ status: "allowed_warning", "overage-status": "allowed_warning" },
    ...{ "overage-utilization": "0.76", "overage-surpassed-threshold": "0.75" },
  });
  expect(unifiedOf(await spend(token, 199))).toMatchObject({
    ...{ "overage-utilization": "0.96", "overage-surpassed-threshold": "0.95" },
  });
  const body = (await (await usage(token)).json()) as any;
  const resets = new Date(monthEnd()).toISOString();
  expect(body.extra_usage).toEqual({
    ...{ is_enabled: true, monthly_limit: 100, used_credits: 96, utilization: 96, currency: "USD" },
  });
  expect(body.limits).toEqual([
    expect.objectContaining({ kind: "spend", group: "daily", percent: 48, is_active: false }),
    { kind: "spend", group: "monthly", percent: 96, resets_at: resets, severity: "normal", is_active: true },
  ]);
});

test("a budget that is spent is said in exactly the words and headers that the client prints", async () => {
  const token = await tokenOf("bob");
  await spend(token, 20);
  const refused = await refusal(token);
  const body = (await refused.json()) as any;
  expect([refused.status, body.type, body.error.type]).toEqual([429, "error", "billing_error"]);
  expect(body.error.message).toMatch(
    /"bob, week".* is spent; it resets on .* UTC; the gateway's operator can raise it\.$/,
  );
  const { reset, ...others } = unifiedOf(refused);
  expect(others).toEqual({
    ...{ status: "rejected", "overage-reset": reset!, "overage-utilization": "1" },
    ...{ "overage-surpassed-threshold": "1", "overage-period": "weekly" },
    "overage-disabled-reason": "org_spend_cap_reached",
  });
  const wait = Number(refused.headers.get("retry-after"));
  expect(Math.abs(Date.now() / 1000 + wait - Number(reset))).toBeLessThan(3);
  expect(new Date(Number(reset) * 1000).getUTCDay()).toBe(1);
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect((await (await usage(token)).json()) as any).toMatchObject({
    limits: [{ group: "weekly", percent: expect.any(Number) }],
  });
});

test("a budget that others share is said to be one of the group", async () => {
  const [one, two] = [
    await tokenOf("carl", { path: "/teams/a/carl" }),
    await tokenOf("dora", { path: "/teams/a/dora" }),
  ];
  await spend(one, 20);
  const refused = await refusal(two);
  await refused.body?.cancel();
  expect(unifiedOf(refused)).toMatchObject({ status: "rejected", "overage-scope": "group_pool" });
});

test("a budget that never resets has no time, and one that only watches is none", async () => {
  const ever = await tokenOf("ever");
  expect(unifiedOf(await spend(ever, 20))).toEqual({});
  const refused = await refusal(ever);
  expect(((await refused.json()) as any).error.type).toBe("billing_error");
  expect(refused.headers.has("retry-after")).toBe(false);
  expect(Object.keys(unifiedOf(refused)).filter((name) => /reset|period/.test(name))).toEqual([]);
  const watched = await tokenOf("watched");
  await spend(watched, 20);
  expect(unifiedOf(await spend(watched, 1))).toEqual({});
});

test("without a cap the three windows are told", async () => {
  const token = await tokenOf("erna");
  expect(unifiedOf(await spend(token, 120))).toEqual({});
  const window = { limit: null, used_credits: 12, utilization: null };
  const isBooked = async () => ((await (await usage(token)).json()) as any).extra_usage.used_credits > 0;
  expect(await eventually(isBooked)).toBe(true);
  const answer = await usage(token);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(await answer.json()).toEqual({
    extra_usage: {
      ...{ is_enabled: true, monthly_limit: null, used_credits: 12, utilization: null, currency: "USD" },
      ...{ daily: window, weekly: window },
    },
    limits: [],
  });
  expect((await usage(KEY)).status).toBe(401);
});

test("other clients keep what they had", async () => {
  expect((await spend(KEY, 20)).headers.get("anthropic-ratelimit-requests-limit")).toBe("10");
  const refused = await refusal(KEY);
  const body = (await refused.json()) as any;
  expect([refused.status, body.error.type, body.error.details.error_code]).toEqual([
    ...[429, "rate_limit_error", "budget_exhausted"],
  ]);
  expect(unifiedOf(refused)).toEqual({});
});

test("a model that is not permitted is a fault of the request", async () => {
  const token = await tokenOf("fred", { scope: "models:claude-haiku-4-5" });
  const refused = await call(token, 1);
  const body = (await refused.json()) as any;
  expect([refused.status, body.error.type]).toEqual([400, "invalid_request_error"]);
  expect(body.error.message).toContain(MODEL);
});

test("with several caps the fullest is told, and of those that are spent the one that resets last", () => {
  const cap = (period: "daily" | "weekly", limit: number, spent: number, resetsAt: number) => ({
    ...{ name: period, period, limit, spent, resetsAt, isShared: false },
  });
  const spent = { day: 0, week: 0, month: 0 };
  const groups = (caps: ReturnType<typeof cap>[]) =>
    (usageOf({ caps, spent })["limits"] as any[]).filter((row) => row.is_active).map((row) => row.group);
  expect(groups([cap("daily", 1, 0.9, 1e12), cap("weekly", 1, 0.5, 2e12)])).toEqual(["daily"]);
  expect(groups([cap("daily", 1, 3, 1e12), cap("weekly", 1, 1, 2e12)])).toEqual(["weekly"]);
  expect(groups([cap("daily", 0, 0, 1e12), cap("weekly", 1, 0.99, 2e12)])).toEqual(["daily"]);
});
