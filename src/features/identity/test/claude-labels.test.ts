/** Labels of Claude Code: one is a tag in the books, and no provider gets any. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { OwnTokens } from "../own/own-tokens.ts";
import { readToken } from "../tokens/token.ts";
import { bearer, IDENTITY, SECRET, tokenOf, WEIR } from "./support/signed-in.ts";

setDefaultTimeout(60_000);

const KEY = "weir-planted-call-key-0001";
const asked: { text: string; headers: Headers }[] = [];
let upstream: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(({ body, headers }) => {
    asked.push({ text: body.toString(), headers });
    return json({
      ...{
        id: "m",
        type: "message",
        role: "assistant",
        model: "x",
        stop_reason: "end_turn",
        stop_sequence: null,
      },
      ...{ content: [{ type: "text", text: "ok" }], usage: { input_tokens: 1, output_tokens: 1 } },
    });
  });
  gateway = await startGateway({
    config: {
      providers: { anthropic: { baseUrl: upstream.url, apiKey: "sk-ant-planted" } },
      keys: [{ name: "other", key: KEY }],
      rates: { alpha: { on: { tag: "project:alpha" }, rpm: 2 } },
      identity: { ...IDENTITY, clients: { "claude-code": { tag: "project" } } },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const BODY =
  '{"tags": {"project":"alpha", "x": 1} , "model":"claude-sonnet-4-5",  "max_tokens":5,"messages":[{"role":"user","content":"hi"}], "future": 1.0}';

async function ask(
  credential: string,
  body = BODY,
  beta = "a-1,request-tags-2026-08-21, b-2",
): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    ...{ method: "POST", body },
    headers: { ...bearer(credential), "content-type": "application/json", "anthropic-beta": beta },
  });
  await answer.text();
  return answer.status;
}

test("labels and their beta are taken out, and nothing else of the request is changed", async () => {
  const token = await tokenOf("bob");
  expect(await ask(token, BODY.replace("alpha", "beta"))).toBe(200);
  const { text, headers } = asked.at(-1)!;
  expect(text).toBe(
    '{ "model":"claude-sonnet-4-5",  "max_tokens":5,"messages":[{"role":"user","content":"hi"}], "future": 1.0}',
  );
  expect(headers.get("anthropic-beta")).toBe("a-1,b-2");
  expect(await ask(token, BODY.replace("alpha", "beta"), "request-tags-2026-08-21")).toBe(200);
  expect(asked.at(-1)!.headers.has("anthropic-beta")).toBe(false);
  for (const tags of [
    '"x"',
    "[]",
    "null",
    "{}",
    '{"project":"a b"}',
    '{"project":{}}',
    `{"project":"${"a".repeat(80)}"}`,
  ]) {
    expect(await ask(token, BODY.replace(/\{"project".*?\}/, tags))).toBe(200);
    expect(asked.at(-1)!.text).not.toContain('"tags"');
  }
});

test("limits on the tag count the calls of everybody who says it, and no others", async () => {
  const [carl, dora] = [await tokenOf("carl"), await tokenOf("dora")];
  expect([await ask(carl), await ask(dora), await ask(carl), await ask(dora)]).toEqual([200, 200, 429, 429]);
  expect(await ask(carl, BODY.replace("alpha", "gamma"))).toBe(200);
});

test("other callers keep their labels", async () => {
  expect(await ask(KEY)).toBe(200);
  expect(asked.at(-1)!.text).toBe(BODY);
  expect(asked.at(-1)!.headers.get("anthropic-beta")).toBe("a-1,request-tags-2026-08-21, b-2");
});

test("the token names the label, so that the client sends it", async () => {
  const facts = { person: "per_x", name: "x", path: "/people/x", entry: "okta", label: "project" };
  const { claims } = readToken(await new OwnTokens(WEIR, SECRET, Date.now).make(facts, 60_000));
  expect([claims["billing_group_tag"], claims["weir"]]).toEqual([
    "project",
    { name: "x", path: "/people/x", entry: "okta" },
  ]);
});
