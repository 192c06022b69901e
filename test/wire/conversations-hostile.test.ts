/** What clients do to conversations against the rules, and what happens to one in the middle of an answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type OpenAI from "openai";
import { answerOf, messagesOf, refusal, startAt, textsOf } from "../helpers/conversation-hosts.ts";
import type { RunningGateway } from "../helpers/gateway.ts";
import { collect, openaiClient } from "../helpers/sdk.ts";
import { startUpstream, type Upstream } from "../helpers/upstream.ts";

let upstream: Upstream;
let gateway: RunningGateway;
let openai: OpenAI;

beforeAll(async () => {
  upstream = startUpstream(answerOf);
  gateway = await startAt(upstream, {});
  openai = openaiClient(gateway.url);
});

beforeEach(() => upstream.answer(answerOf));

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function post(path: string, body: string) {
  const response = await fetch(`${gateway.url}/v1${path}`, {
    ...{ method: "POST", body },
    headers: { "content-type": "application/json" },
  });
  const { error } = (await response.json()) as { error?: { param: string; code: string } };
  return [response.status, error?.param, error?.code];
}

describe.each(["talk", "claude", "local", "vendor"])(
  "a conversation deleted during an answer of %s",
  (host) => {
    test.each([false, true])("stays deleted, and the answer names none (stream: %p)", async (stream) => {
      const { id } = await openai.conversations.create({ items: [{ role: "user", content: "before" }] });
      upstream.answer(async (request) => {
        await openai.conversations.delete(id);
        return answerOf(request);
      });
      const asked = { model: `${host}/m`, input: "x", conversation: id };
      const { data, response } = await openai.responses.create({ ...asked, stream }).withResponse();
      let answer = data as OpenAI.Responses.Response;
      if (stream) {
        const last = (await collect(data as AsyncIterable<OpenAI.Responses.ResponseStreamEvent>)).at(-1)!;
        answer = (last as OpenAI.Responses.ResponseCompletedEvent).response;
      } else expect(response.headers.get("x-weir-warnings")).toContain("conversation");
      expect([answer.status, answer.conversation]).toEqual(["completed", null]);
      expect(await refusal(openai.conversations.retrieve(id))).toMatchObject({ 0: 404 });
      expect((await openai.responses.retrieve(answer.id)).conversation).toBeNull();
    });
  },
);

test("however the member is spelled, it is the same member", async () => {
  const { id } = await openai.conversations.create({ items: [{ role: "user", content: "before" }] });
  for (const member of [`"convers\\u0061tion":"${id}"`, `"conversation" :\n{ "id" : "${id}", "x": 1 }`])
    expect(await post("/responses", `{"model":"talk/m","input":"x",${member}}`)).toMatchObject({ 0: 200 });
  expect((await textsOf(openai, id)).length).toBe(5);
  expect(messagesOf(upstream.requests.at(-1)!)[0]).toBe("user: before");
  const twice = `{"model":"vendor/m","input":"x","conversation":null,"conversation":"${id}"}`;
  expect(await post("/responses", twice)).toMatchObject({ 0: 400, 1: "conversation" });
});

test("what is no conversation is a 400, or unknown, and reaches no provider", async () => {
  const { id } = await openai.conversations.create();
  const before = upstream.requests.length;
  const ask = (more: string) => post("/responses", `{"model":"vendor/m","input":"x",${more}}`);
  for (const value of ['""', "5", "[]", "{}", '{"id":5}', "false"])
    expect(await ask(`"conversation":${value}`)).toMatchObject({ 0: 400, 1: "conversation" });
  const both = await ask(`"conversation":"${id}","previous_response_id":"resp_1"`);
  expect(both).toEqual([400, "previous_response_id", "mutually_exclusive_parameters"]);
  expect(await ask(`"conversation":"${id}","background":true`)).toEqual([
    ...[400, "background", "unsupported_value"],
  ]);
  expect(upstream.requests.length).toBe(before);
  expect(await textsOf(openai, id)).toEqual([]);
});

test("items that are none are refused, and change nothing", async () => {
  const { id } = await openai.conversations.create();
  const good = '{"role":"user","content":"x"}';
  for (const bad of [
    "{}",
    '{"role":"nobody","content":"x"}',
    '{"role":"user"}',
    '{"type":5}',
    '{"type":null}',
  ])
    expect(await post(`/conversations/${id}/items`, `{"items":[${good},${bad}]}`)).toEqual([
      ...[400, "items[1]", "invalid_value"],
    ]);
  expect(await post("/conversations", '{"items":[5]}')).toMatchObject({ 0: 400, 1: "items" });
  expect(await textsOf(openai, id)).toEqual([]);
});

test("items of any type come back as they were, member by member in their order", async () => {
  const items = [
    { zeta: [1, { "a b": null, é: "ü\u2028" }], type: "hologram_call", alpha: 1.5e-7, nested: { "": [[]] } },
    {
      type: "function_call",
      call_id: "c1",
      name: "f",
      arguments: '{"a": 1}',
      id: "fc_1",
      status: "completed",
    },
    { type: "function_call_output", call_id: "c1", output: "12 °C" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
    {
      type: "message",
      role: "user",
      content: [{ type: "input_image", image_url: "data:,x", detail: "low" }],
    },
  ];
  const made = await openai.conversations.create({ items: items as never });
  const shown = await collect(openai.conversations.items.list(made.id, { order: "asc" }));
  const without = ({ id, status, ...rest }: Record<string, unknown>) => rest;
  expect(shown.map((item) => JSON.stringify(without(item as never)))).toEqual(
    items.map((item) => JSON.stringify(without(item))),
  );
  expect(shown.slice(1, 4).map(({ id }) => id!)).toMatchObject({ 0: "fc_1", 2: "rs_1" });
});

test("an id occurs once: pages never turn in a circle", async () => {
  const { conversations } = openai;
  const same = (content: string) => ({
    type: "message" as const,
    role: "user" as const,
    content,
    id: "msg_same",
  });
  const { id } = await conversations.create({ items: [same("a"), same("b")] as never });
  await conversations.items.create(id, { items: [same("c")] as never });
  const added = await conversations.items.create(id, { items: [same("d")] as never });
  const items = await collect(conversations.items.list(id, { order: "asc", limit: 1 }));
  expect(await textsOf(openai, id)).toEqual(["a", "b", "c", "d"].map((text) => `user: ${text}`));
  expect(new Set(items.map((item) => item.id)).size).toBe(4);
  expect(added.data[0]!.id).toBe(items[3]!.id);
});

test("deletions and additions at once leave nothing behind", async () => {
  const { conversations } = openai;
  for (let round = 0; round < 10; round++) {
    const { id } = await conversations.create({ items: [{ role: "user", content: "x" }] });
    const item = { role: "user" as const, content: "secret" };
    const done = await Promise.all([
      ...Array.from({ length: 4 }, () => refusal(conversations.items.create(id, { items: [item] }))),
      ...Array.from({ length: 2 }, () => refusal(conversations.delete(id))),
      ...Array.from({ length: 2 }, () =>
        refusal(openai.responses.create({ model: "talk/m", input: "x", conversation: id })),
      ),
    ]);
    const deletions = done.slice(4, 6);
    expect(deletions.filter((outcome) => outcome === "no error").length).toBe(1);
    for (const outcome of done) if (outcome !== "no error") expect(outcome).toMatchObject({ 0: 404 });
    expect(await refusal(conversations.items.list(id).then(({ data }) => data))).toMatchObject({ 0: 404 });
  }
});

test("with a damaged store its operations say so, and other requests go on", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-state-"));
  const first = await startAt(upstream, { state: folder }, {});
  const { id } = await openaiClient(first.url).conversations.create();
  await first.stop();
  const name = (await readdir(folder, { recursive: true })).find((file) => file.endsWith("responses.db"))!;
  const file = await open(join(folder, name), "r+");
  await file.write(Buffer.alloc(8_192, 0x5a), 0, 8_192, 0);
  await file.close();
  const second = await startAt(upstream, { state: folder }, {});
  const client = openaiClient(second.url);
  for (const ask of [
    () => client.conversations.create(),
    () => client.conversations.retrieve(id),
    () => client.conversations.delete(id),
    () => client.conversations.items.create(id, { items: [{ role: "user", content: "x" }] }),
    () => client.responses.create({ model: "talk/m", input: "x", conversation: id }),
  ])
    expect(await refusal(ask())).toEqual([503, "store_unavailable", null]);
  const alone = await client.responses.create({ model: "talk/m", input: "x" });
  expect(alone.status).toBe("completed");
  await second.stop();
  await rm(folder, { recursive: true, force: true });
});
