/** What the record of a call, the header of its answer and the metrics say of guards. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { parsePrometheus, valueOf } from "../../../../test/helpers/prometheus.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import type { GuardFacts } from "../columns.ts";

setDefaultTimeout(60_000);

let weir: RunningBooks;
let host: Upstream;
/** What the model answers. */
let answer = "";

beforeAll(async () => {
  host = startUpstream(({ body }) => {
    const token = /PII_EMAIL_([a-z2-7]{8})/.exec(body.toString());
    const content = answer.replaceAll("DIGEST", token?.[1] ?? "none");
    return json({
      ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  });
  weir = await startBooks({
    workers: 1,
    config: {
      providers: { host: { baseUrl: `${host.url}/v1`, speaks: "chat-completions", models: ["m"] } },
      guards: {
        pii: { find: ["email"], do: "replace" },
        cards: { find: ["card"], do: "block", on: ["input"] },
        ibans: { find: ["iban"], do: "flag", on: ["output"] },
      },
    },
  });
});

afterAll(async () => {
  await weir.end();
  host.stop();
});

async function ask(content: unknown, said = "Fine.", more: object = {}) {
  answer = said;
  const response = await fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "host/m", messages: [{ role: "user", content }], ...more }),
  });
  return {
    status: response.status,
    header: response.headers.get("x-weir-guards"),
    id: response.headers.get("x-request-id")!,
    text: await response.text(),
  };
}

async function recordOf(id: string): Promise<readonly GuardFacts[]> {
  for (;;) {
    const response = await fetch(`${weir.admin.url}/admin/v1/calls/${id}`, {
      headers: { authorization: `Bearer ${weir.admin.credential}` },
    });
    if (response.ok) return ((await response.json()) as { guards: GuardFacts[] }).guards;
    await Bun.sleep(50);
  }
}

const value = async (name: string, labels: Record<string, string>) =>
  valueOf(parsePrometheus(await (await fetch(`${weir.admin.url}/metrics`)).text()), name, labels) ?? 0;

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if (await holds()) return true;
    await Bun.sleep(100);
  }
  return false;
}

test("each guard has its verdict by phase, kinds, marks and time", async () => {
  const asked = await ask(
    "Write to anna@example.com, ANNA@EXAMPLE.COM and bob@example.com.",
    "IBAN: DE89370400440532013000",
  );
  expect(asked.header).toBe("pii=replaced:3, cards=passed, ibans=flagged:1");
  const [pii, cards, ibans] = await recordOf(asked.id);
  expect(pii).toMatchObject({
    ...{ name: "pii", verdict: "replaced", phases: { input: "replaced", output: "passed" } },
    ...{ mode: "window", count: 3, kinds: { EMAIL: 3 }, place: "messages[0].content" },
  });
  // Equal values have equal marks, and a mark is the one of the token.
  const tokens = new Set(
    host.requests
      .at(-1)!
      .body.toString()
      .match(/EMAIL_[a-z2-7]{8}/g),
  );
  expect(new Set(pii!.marks)).toEqual(tokens);
  expect([cards!.phases, ibans!.phases]).toEqual([{ input: "passed" }, { output: "flagged" }]);
  for (const { ms } of [pii!, cards!, ibans!]) expect([ms >= 0, ms < 5_000]).toEqual([true, true]);
});

test("a blocked call says so in its header and record", async () => {
  const asked = await ask("4111 1111 1111 1111");
  expect([asked.status, asked.header]).toEqual([400, "pii=passed, cards=blocked:1, ibans=not-inspected"]);
  const [, cards, ibans] = await recordOf(asked.id);
  expect(cards).toMatchObject({ verdict: "blocked", phases: { input: "blocked" }, kinds: { CARD: 1 } });
  expect(ibans).toMatchObject({ verdict: "not-inspected", phases: {} });
});

test("what weir cannot read is counted", async () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const asked = await ask([{ type: "text", text: "See" }, image, image]);
  expect(asked.header).toBe("pii=passed, cards=passed, ibans=passed, uninspected=media:2");
  const record = await recordOf(asked.id);
  expect(record.map(({ uninspected }) => uninspected)).toEqual([{ media: 2 }, { media: 2 }, undefined]);
  const counted = { guard: "pii", kind: "media" };
  expect(await until(async () => (await value("weir_guard_uninspected_total", counted)) === 2)).toBe(true);
});

test("a stream says what is known when it begins", async () => {
  const asked = await ask("hello", "", { model: "mock/echo", stream: true });
  expect(asked.header).toBe("pii=passed, cards=passed, ibans=pending");
  expect(asked.text).toEndWith(": weir-guards pii=passed, cards=passed, ibans=passed\n\n");
});

test("tokens that are none of the call are counted as unrestored", async () => {
  const said =
    "PII_EMAIL_DIGEST pii email DIGEST, PII_EMAIL_aaaaaaaa; PII email addresses, PII_CARD_aaaaaaaa.";
  const before = await value("weir_guard_unrestored_total", { kind: "EMAIL" });
  const asked = await ask("Write to anna@example.com.", said);
  expect(asked.text).toContain("anna@example.com pii email");
  const after = async () => (await value("weir_guard_unrestored_total", { kind: "EMAIL" })) - before;
  expect(await until(async () => (await after()) === 2)).toBe(true);
  expect(await value("weir_guard_unrestored_total", { kind: "CARD" })).toBe(0);
});

test("verdicts and seconds are metrics, and none of them has a value", async () => {
  const blocked = { guard: "cards", phase: "input", verdict: "blocked" };
  expect(await until(async () => (await value("weir_guard_verdicts_total", blocked)) === 1)).toBe(true);
  const text = await (await fetch(`${weir.admin.url}/metrics`)).text();
  expect(text).toContain('weir_guard_seconds_count{guard="pii",phase="input"}');
  expect(text).not.toMatch(/anna|4111|DE89/);
  expect(weir.log.join("\n")).not.toMatch(/anna|4111|DE89/);
});

interface View {
  guards: { name: string; does: string; finds: string[]; narrowed: boolean }[];
  hours: { guard: string; phase: string; verdict: string; calls: number }[];
  unread: { guard: string; kind: string; texts: number }[];
  blocked: { id: string; guard: string; phase: string; place: string; kinds: string }[];
}

async function admin<Answer>(path: string, body?: object): Promise<{ status: number; answer: Answer }> {
  const response = await fetch(`${weir.admin.url}/admin/v1${path}`, {
    method: body ? "POST" : "GET",
    headers: {
      authorization: `Bearer ${weir.admin.credential}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}

test("operators see verdicts by hour, blocked calls, and what was not read", async () => {
  const { id } = await ask("4111 1111 1111 1111");
  await recordOf(id);
  const { answer: view } = await admin<View>("/guards");
  expect(view.guards).toEqual([
    { name: "pii", does: "replace", finds: ["email"], narrowed: false },
    { name: "cards", does: "block", finds: ["card"], narrowed: false },
    { name: "ibans", does: "flag", finds: ["iban"], narrowed: false },
  ]);
  expect(view.blocked[0]).toMatchObject({
    ...{ id, guard: "cards", phase: "input", place: "messages[0].content", kinds: "CARD" },
  });
  const sum = (guard: string, phase: string, verdict: string) =>
    view.hours
      .filter((row) => row.guard === guard && row.phase === phase && row.verdict === verdict)
      .reduce((calls, row) => calls + row.calls, 0);
  expect([sum("cards", "input", "blocked"), view.blocked.length]).toEqual([2, 2]);
  expect([sum("pii", "input", "replaced"), sum("ibans", "output", "flagged")]).toEqual([2, 1]);
  expect(view.unread.map(({ guard, kind, texts }) => [guard, kind, texts])).toEqual([
    ...[
      ["cards", "media", 2],
      ["pii", "media", 2],
    ],
  ]);
  // An hour ago there was no call.
  const now = Date.now();
  const { answer: before } = await admin<View>(`/guards?from=${now - 9e6}&to=${now - 8e6}`);
  expect([before.hours, before.unread, before.blocked]).toEqual([[], [], []]);
});

test("operators try a text, of which nothing is kept", async () => {
  const text = "To zoe.tryout@example.com, IBAN DE89370400440532013000";
  const { answer: tried } = await admin<{ guards: object[]; text: string }>("/guards/try", { text });
  expect(tried.guards).toEqual([
    { guard: "pii", does: "replace", asks: false, findings: [{ kind: "EMAIL", start: 3, end: 25 }] },
    { guard: "cards", does: "block", asks: false, findings: [] },
    { guard: "ibans", does: "flag", asks: false, findings: [{ kind: "IBAN", start: 28, end: 50 }] },
  ]);
  expect(tried.text).toMatch(/^To PII_EMAIL_[a-z2-7]{8}, IBAN DE89370400440532013000$/);
  const blocked = await admin<{ guards: object[]; text?: string }>("/guards/try", {
    text: "pay 4111111111111111",
  });
  expect([blocked.answer.guards.length, blocked.answer.text]).toEqual([2, undefined]);
  expect(weir.log.join("\n")).not.toContain("tryout");
  const found = await Bun.$`grep -rl tryout ${weir.state}`.nothrow().text();
  expect(found).toBe("");
});
