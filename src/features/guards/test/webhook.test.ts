/** A guard that asks a service in weir's own form: what it sends, what it does with answers, and what becomes of a call without one. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { RunningGateway } from "../../../../test/helpers/gateway.ts";
import {
  type Answer,
  html,
  json,
  type RawAnswer,
  redirect,
  silence,
  startUpstream,
  type Upstream,
} from "../../../../test/helpers/upstream.ts";
import { askedOf, post, Servers } from "./servers.ts";

setDefaultTimeout(60_000);

const servers = new Servers();

const say = ({ url }: RunningGateway, content: string, headers: Record<string, string> = {}) =>
  post(`${url}/v1/chat/completions`, { model: "mock/echo", messages: [{ role: "user", content }] }, headers);

async function outcome(asking: Promise<Response>) {
  const response = await asking;
  const body = (await response.json()) as {
    choices?: [{ message: { content: string } }];
    error?: JsonObject;
  };
  return {
    status: response.status,
    text: body.choices?.[0].message.content,
    code: body.error?.["code"],
    message: body.error?.["message"],
    guards: response.headers.get("x-weir-guards"),
    retry: response.headers.get("retry-after"),
  };
}

/** A service that finds all places of a word. @param unit in which it counts */
function finding(word: string, { unit = "utf16", ...more }: JsonObject = {}): Upstream {
  const count = (text: string) => {
    if (unit === "utf8") return Buffer.byteLength(text);
    return unit === "codepoint" ? [...text].length : text.length;
  };
  return servers.service(({ texts }) => ({
    ...{ verdict: "pass", unit },
    findings: texts.flatMap(({ index, text }) =>
      [...text.matchAll(new RegExp(word, "gu"))].map((match) => ({
        ...{ index, start: count(text.slice(0, match.index)), type: "NAME" },
        ...{ end: count(text.slice(0, match.index + match[0].length)), ...more },
      })),
    ),
  }));
}

test("a service gets the texts with their places, signed, and no credential of the client", async () => {
  const seen = servers.service(() => ({ verdict: "pass" }));
  const gateway = await servers.gateway(
    {
      asks: {
        webhook: {
          ...{ url: `${seen.url}/check`, secret: "s3cret-of-the-hook" },
          ...{ headers: { "x-own": "mine" }, forward: ["X-Tenant", "x-absent"] },
        },
        ...{ do: "block", on: ["input"] },
      },
    },
    { keys: [{ name: "eng", key: "weir_sk_0123456789abcdef0123456789abcdef", path: "/eng" }] },
  );
  await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", "x-api-key": "weir_sk_0123456789abcdef0123456789abcdef" },
      ...{ "x-tenant": "blue", cookie: "session=1", "x-other": "no" },
    },
    body: JSON.stringify({
      ...{ model: "mock/echo", max_tokens: 50, system: "You are …" },
      messages: [
        { role: "user", content: "mail anna" },
        { role: "assistant", content: [{ type: "tool_use", id: "t_1", name: "send", input: { to: "bob" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t_1", content: '{"to":"bob"}' }] },
      ],
      tools: [{ name: "send", description: "Sends.", input_schema: { type: "object" } }],
    }),
  });
  const [request] = seen.requests;
  const asked = askedOf(request!);
  expect(request!.path).toBe("/check");
  expect(asked).toMatchObject({
    ...{ version: 1, phase: "input", final: true },
    call: { path: "/eng", model: "mock/echo", format: "messages", stream: false },
    tools: [{ name: "send", description: "Sends.", schema: { type: "object" } }],
  });
  expect((asked["call"] as JsonObject)["headers"]).toEqual({ "x-tenant": "blue" });
  const texts = asked.texts.map(({ index, kind, role, path, text }: JsonObject) => [
    ...[index, kind, role, path, text],
  ]);
  expect(texts).toContainEqual([0, "system", "system", "system", "You are …"]);
  expect(texts).toContainEqual([1, "text", "user", "messages[0].content", "mail anna"]);
  expect(texts).toContainEqual([3, "tool-result", "tool", "messages[2].content[0].content", '{"to":"bob"}']);
  const sent = JSON.stringify(request!.headers) + request!.body.toString();
  for (const secret of ["weir_sk_", "session=1", "x-other"]) expect(sent).not.toContain(secret);
  expect(sent).toContain("mine");
  const [, time, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(request!.headers.get("x-weir-signature")!)!;
  const signed = createHmac("sha256", "s3cret-of-the-hook").update(`${time}.`).update(request!.body);
  expect(mac).toBe(signed.digest("hex"));
  expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60);
});

describe("what a service finds is replaced in all units", () => {
  for (const unit of ["utf16", "utf8", "codepoint"])
    test(unit, async () => {
      const names = finding("Zoë", { unit });
      const gateway = await servers.gateway({
        names: { webhook: names.url, do: "replace", on: ["input"] },
        see: { find: ["email", { webhook: names.url }], do: "flag", on: ["input"] },
      });
      const said = "𝒜 👩‍👩‍👧 Zoë wrote; Zoës book, says Zoë.";
      const got = await outcome(say(gateway, said));
      expect(got.text).toBe(said);
      expect(got.guards).toBe("names=replaced:3, see=passed");
      const [, after] = names.requests.map((request) => askedOf(request).texts[0]!.text);
      expect(after).toMatch(
        /^𝒜 👩‍👩‍👧 PII_NAME_[a-z2-7]{8} wrote; PII_NAME_[a-z2-7]{8}s book, says PII_NAME_[a-z2-7]{8}\.$/,
      );
    });
});

test("another occurrence goes where it is a word of its own", async () => {
  const first = servers.service(({ texts }) => ({
    verdict: "pass",
    findings: [{ index: texts.length - 1, start: 0, end: 2, type: "PERSON" }],
  }));
  const gateway = await servers.gateway({
    names: { webhook: first.url, do: "mask", on: ["input"] },
  });
  expect((await outcome(say(gateway, "Al and Al, Also Albert"))).text).toBe(
    "[PERSON] and [PERSON], Also Albert",
  );
});

test("a service may give the replacement of a value", async () => {
  const names = finding("Zoë", { replacement: "someone" });
  const gateway = await servers.gateway({ names: { webhook: names.url, do: "block", on: ["input"] } });
  expect(await outcome(say(gateway, "Zoë wrote"))).toMatchObject({
    ...{ status: 200, text: "someone wrote", guards: "names=masked:1" },
  });
});

test("a guard asks about what the guards before it made", async () => {
  const seen = servers.service(() => ({ verdict: "pass" }));
  const gateway = await servers.gateway({
    pii: { find: ["email"], do: "mask", on: ["input"] },
    asks: { find: ["card", { webhook: seen.url }], do: "block", on: ["input"] },
  });
  expect((await say(gateway, "anna@example.com")).status).toBe(200);
  const text = seen.requests[0]!.body.toString();
  expect([text.includes("[EMAIL]"), text.includes("anna@")]).toEqual([true, false]);
  expect((await say(gateway, "4111 1111 1111 1111")).status).toBe(400);
  expect(seen.requests.length).toBe(1);
});

test("verdicts: block, flag, and block for a guard that only flags", async () => {
  let verdict = "block";
  const calm = servers.service(() => ({
    verdict,
    reason: "it says hello",
    code: "violence",
    findings: "not read",
  }));
  const gateway = await servers.gateway({ calm: { webhook: calm.url, do: "block", on: ["input"] } });
  expect(await outcome(say(gateway, "hello"))).toMatchObject({
    ...{ status: 400, code: "blocked_by_guard", guards: "calm=blocked:1" },
    message: 'The guard "calm" refused the request: its verdict is violence.',
  });
  const flags = await servers.gateway({ calm: { webhook: calm.url, do: "flag", on: ["input"] } });
  expect(await outcome(say(flags, "hello"))).toMatchObject({ status: 200, guards: "calm=flagged:1" });
  verdict = "flag";
  calm.answer(() => json({ verdict, code: "a sentence of the text: hello!" }));
  expect(await outcome(say(gateway, "hello"))).toMatchObject({ status: 200, guards: "calm=flagged:1" });
});

/** Answers that are no verdicts. */
const BAD: Readonly<Record<string, () => Answer | RawAnswer | Promise<Answer | RawAnswer>>> = {
  "status 500": () => html(500),
  "status 404": () => json({ verdict: "pass" }, 404),
  "a redirect": () => redirect(302, "http://127.0.0.1:1/"),
  "no JSON": () => html(200),
  "a list": () => json([{ verdict: "pass" }]),
  "no verdict": () => json({}),
  "an unknown verdict": () => json({ verdict: "allow" }),
  "an unknown unit": () => json({ verdict: "pass", unit: "bytes" }),
  "an unknown index": () => json({ verdict: "pass", findings: [{ index: 7, start: 0, end: 1, type: "A" }] }),
  "an index below zero": () =>
    json({ verdict: "pass", findings: [{ index: -1, start: 0, end: 1, type: "A" }] }),
  "a range behind the text": () =>
    json({ verdict: "pass", findings: [{ index: 0, start: 0, end: 900, type: "A" }] }),
  "a range that is empty": () =>
    json({ verdict: "pass", findings: [{ index: 0, start: 1, end: 1, type: "A" }] }),
  "a range within a character": () =>
    json({ verdict: "pass", unit: "utf8", findings: [{ index: 0, start: 0, end: 2, type: "A" }] }),
  "a fraction": () => json({ verdict: "pass", findings: [{ index: 0, start: 0, end: 1.5, type: "A" }] }),
  "findings that overlap": () =>
    json({
      verdict: "pass",
      findings: [
        { index: 0, start: 0, end: 3, type: "A" },
        { index: 0, start: 2, end: 4, type: "B" },
      ],
    }),
  "a replacement that is no text": () =>
    json({ verdict: "pass", findings: [{ index: 0, start: 0, end: 1, type: "A", replacement: 4 }] }),
  "10 MB": () => json({ verdict: "pass", pad: "x".repeat(10 * 1024 * 1024) }),
  silence: () => silence(),
};

describe("without a verdict a call does not go on, or goes on and says so", () => {
  for (const [name, answer] of Object.entries(BAD))
    test(name, async () => {
      const hook = servers.upstream(answer);
      const asks = { webhook: hook.url, on: ["input"], timeout: "400ms" };
      const gateway = await servers.gateway({ strict: { ...asks, do: "block" } });
      const before = performance.now();
      expect(await outcome(say(gateway, "Wörter und Worte"))).toMatchObject({
        ...{ status: 503, code: "guard_unavailable", guards: "strict=unavailable" },
        ...{ retry: "5", text: undefined },
      });
      expect(performance.now() - before).toBeLessThan(20_000);
      const lenient = await servers.gateway({ lenient: { ...asks, do: "replace", onError: "pass" } });
      expect(await outcome(say(lenient, "Wörter und Worte"))).toMatchObject({
        ...{ status: 200, guards: "lenient=unavailable", text: "Wörter und Worte" },
      });
      // One request each: only what was never connected is repeated.
      expect(hook.requests.length).toBe(2);
    });
});

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds() && waited < 10_000; waited += 20) await Bun.sleep(20);
}

test("a service that is down: one repetition, and after five failures a pause", async () => {
  const hook = startUpstream(() => json({ verdict: "pass" }));
  const { url } = hook;
  hook.stop();
  const gateway = await servers.gateway({ asks: { webhook: url, do: "block", on: ["input"] } });
  for (let calls = 0; calls < 5; calls++) expect((await say(gateway, "hello")).status).toBe(503);
  const again = servers.opened(startUpstream(() => json({ verdict: "pass" }), "127.0.0.1"));
  expect((await outcome(say(gateway, "hello"))).code).toBe("guard_unavailable");
  const faultsOf = () => gateway.log.filter((line) => line.includes("guards.asks: "));
  await until(() => faultsOf().length === 2);
  const faults = faultsOf();
  expect(faults.map((line) => /the webhook [^"]*/.exec(line)?.[0].split(";")[0]?.trim())).toEqual([
    ...["the webhook cannot be reached", "the webhook has failed several times"],
  ]);
  expect(faults.join()).not.toContain("hello");
});

test("after five failures a service is not asked, and one question tries it again", async () => {
  let isUp = false;
  const hook = servers.upstream(() => (isUp ? json({ verdict: "pass" }) : html(500)));
  const gateway = await servers.gateway({ asks: { webhook: hook.url, do: "block", on: ["input"] } });
  for (let calls = 0; calls < 8; calls++) expect((await say(gateway, "hello")).status).toBe(503);
  expect(hook.requests.length).toBe(5);
  isUp = true;
  expect((await say(gateway, "hello")).status).toBe(503);
  await Bun.sleep(10_100);
  const statuses = await Promise.all([0, 1, 2].map(async () => (await say(gateway, "hello")).status));
  expect(statuses).toContain(200);
  expect((await say(gateway, "hello")).status).toBe(200);
});

test("a client that leaves while a service thinks is no failure of the service", async () => {
  const hook = servers.upstream(() => silence());
  const gateway = await servers.gateway({
    asks: { webhook: hook.url, do: "block", on: ["input"], timeout: "30s" },
  });
  for (let calls = 1; calls <= 6; calls++) {
    const leaving = new AbortController();
    const asking = fetch(`${gateway.url}/v1/chat/completions`, {
      ...{ method: "POST", signal: leaving.signal, headers: { "content-type": "application/json" } },
      body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hello" }] }),
    }).catch(() => "left");
    await hook.arrived(calls);
    leaving.abort();
    expect(await asking).toBe("left");
  }
  await hook.quiet();
  hook.answer(() => json({ verdict: "pass" }));
  expect((await say(gateway, "hello")).status).toBe(200);
});
