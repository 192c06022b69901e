/** Conversations over real sockets by the openai SDK: their objects, and answers of any provider that continue them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type OpenAI from "openai";
import {
  answerOf,
  bodyOf,
  messagesOf,
  newest,
  refusal,
  startAt,
  textsOf,
} from "../helpers/conversation-hosts.ts";
import type { RunningGateway } from "../helpers/gateway.ts";
import { collect, openaiClient } from "../helpers/sdk.ts";
import { cut, json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const KEYS = { a: "key-of-client-a-1234567890", b: "key-of-client-b-1234567890" };

let upstream: Upstream;
let gateway: RunningGateway;
let keyed: RunningGateway;
let openai: OpenAI;

const last = () => upstream.requests.at(-1)!;

beforeAll(async () => {
  upstream = startUpstream(answerOf);
  gateway = await startAt(upstream, {});
  keyed = await startAt(upstream, { keys: Object.entries(KEYS).map(([name, key]) => ({ name, key })) });
  openai = openaiClient(gateway.url);
});

beforeEach(() => upstream.answer(answerOf));

afterAll(async () => {
  await gateway.stop();
  await keyed.stop();
  upstream.stop();
});

describe("a conversation", () => {
  test("is made, read, changed and deleted", async () => {
    const { conversations } = openai;
    const made = await conversations.create({
      items: [{ role: "user", content: "hello" }],
      metadata: { topic: "tea" },
    });
    expect(made).toMatchObject({ object: "conversation", metadata: { topic: "tea" } });
    expect(made.id).toMatch(/^conv_/);
    expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(600);
    expect(await conversations.retrieve(made.id)).toEqual(made);
    const changed = await conversations.update(made.id, { metadata: { topic: "milk" } });
    expect(changed).toEqual({ ...made, metadata: { topic: "milk" } });
    expect(await conversations.retrieve(made.id)).toEqual(changed);
    expect(await textsOf(openai, made.id)).toEqual(["user: hello"]);
    expect(await conversations.delete(made.id)).toEqual({
      id: made.id,
      object: "conversation.deleted",
      deleted: true,
    });
    const gone = [404, "conversation_not_found", "conversation"];
    expect(await refusal(conversations.retrieve(made.id))).toEqual(gone);
    expect(await refusal(conversations.delete(made.id))).toEqual(gone);
    expect(await refusal(conversations.update(made.id, { metadata: {} }))).toEqual(gone);
    expect(await refusal(conversations.items.list(made.id).then(({ data }) => data))).toEqual(gone);
    const asked = openai.responses.create({ model: "talk/m", input: "hi", conversation: made.id });
    expect(await refusal(asked)).toEqual(gone);
  });

  test("is made without a body, and is no answer", async () => {
    const response = await fetch(`${gateway.url}/v1/conversations`, { method: "POST" });
    const { id, metadata } = (await response.json()) as { id: string; metadata: object };
    expect([response.status, metadata]).toEqual([200, {}]);
    expect((await openai.conversations.create()).id).not.toBe(id);
    expect(await refusal(openai.responses.retrieve(id))).toEqual([404, "response_not_found", null]);
    const continued = openai.responses.create({ model: "talk/m", input: "x", previous_response_id: id });
    expect(await refusal(continued)).toEqual([400, "previous_response_not_found", "previous_response_id"]);
  });

  test("has its items in pages, takes more and gives them away", async () => {
    const { conversations } = openai;
    const { id } = await conversations.create();
    const { items } = conversations;
    const message = (n: number) => ({ role: "user" as const, content: `m${n}` });
    const added = await items.create(id, { items: Array.from({ length: 20 }, (_, n) => message(n)) });
    expect(added.data.length).toBe(20);
    await items.create(id, { items: Array.from({ length: 5 }, (_, n) => message(20 + n)) });
    const page = await items.list(id, { limit: 7 });
    expect([page.data.length, page.has_more]).toEqual([7, true]);
    const names = (list: readonly { id?: string | null }[]) => list.map((item) => item.id);
    const down = names(await collect(items.list(id, { limit: 7 })));
    const up = names(await collect(items.list(id, { limit: 10, order: "asc" })));
    expect(up.length).toBe(25);
    expect(down).toEqual(up.toReversed());
    expect(await textsOf(openai, id)).toEqual(Array.from({ length: 25 }, (_, n) => `user: m${n}`));
    const third = added.data[2]! as { id: string };
    const read = await items.retrieve(third.id, { conversation_id: id });
    expect(read).toEqual({
      ...{ id: third.id, type: "message", role: "user", status: "completed" },
      content: [{ type: "input_text", text: "m2" }],
    } as never);
    expect((await items.delete(third.id, { conversation_id: id })).id).toBe(id);
    expect(await refusal(items.retrieve(third.id, { conversation_id: id }))).toEqual([
      404,
      "item_not_found",
      null,
    ]);
    expect(await refusal(items.delete(third.id, { conversation_id: id }))).toEqual([
      404,
      "item_not_found",
      null,
    ]);
    expect((await textsOf(openai, id)).length).toBe(24);
  });

  test("has the vendor's limits", async () => {
    const { conversations } = openai;
    const many = Array.from({ length: 21 }, () => ({ role: "user" as const, content: "x" }));
    const pairs = (length: number) => Object.fromEntries(Array.from({ length }, (_, n) => [`k${n}`, "v"]));
    expect(await refusal(conversations.create({ items: many }))).toEqual([
      400,
      "array_above_max_length",
      "items",
    ]);
    const { id } = await conversations.create({ metadata: pairs(16), items: many.slice(1) });
    expect(await refusal(conversations.create({ metadata: pairs(17) }))).toEqual([
      400,
      "invalid_value",
      "metadata",
    ]);
    const long = conversations.update(id, { metadata: { k: "v".repeat(513) } });
    expect(await refusal(long)).toEqual([400, "invalid_value", "metadata"]);
    const bad = conversations.items.create(id, { items: [{ role: "user", content: 5 }] as never });
    expect(await refusal(bad)).toMatchObject({ 0: 400 });
    expect((await textsOf(openai, id)).length).toBe(20);
  });
});

describe.each(["talk", "claude", "local", "vendor"])("a conversation with %s", (host) => {
  const model = `${host}/m`;

  test.each([false, true])("continues over three turns, streamed: %p", async (streamed) => {
    const { id } = await openai.conversations.create({
      items: [
        { role: "user", content: "before" },
        { role: "assistant", content: "yes" },
      ],
    });
    const history = ["user: before", "assistant: yes"];
    for (const input of ["one", "two", "three"]) {
      let answer: OpenAI.Responses.Response | undefined;
      if (streamed) {
        const stream = await openai.responses.create({ model, input, conversation: { id }, stream: true });
        for await (const event of stream) {
          if ("response" in event) expect(event.response.conversation).toEqual({ id });
          if (event.type === "response.completed") answer = event.response;
        }
      } else answer = await openai.responses.create({ model, input, conversation: id });
      expect(answer!.conversation).toEqual({ id });
      expect((answer as { store?: boolean }).store).toBe(true);
      const sent = bodyOf(last());
      expect(sent.conversation).toBeUndefined();
      expect(messagesOf(last()).slice(-history.length - 1)).toEqual([...history, `user: ${input}`]);
      expect((sent.input ?? []).filter((item) => item.id !== undefined)).toEqual([]);
      history.push(`user: ${input}`, `assistant: answer ${newest()}`);
      expect(await textsOf(openai, id)).toEqual(history);
      expect((await openai.responses.retrieve(answer!.id)).conversation).toEqual({ id });
    }
  });

  test("keeps nothing of an answer that fails or breaks off", async () => {
    const { id } = await openai.conversations.create();
    upstream.answer(() => json({ error: { message: "no", type: "server_error" } }, 500));
    expect(await refusal(openai.responses.create({ model, input: "x", conversation: id }))).not.toBe(
      "no error",
    );
    upstream.answer((request) => {
      const [first] = answerOf(request).body as string[];
      return cut([first!], "rst");
    });
    const stream = await openai.responses
      .create({ model, input: "x", conversation: id, stream: true })
      .catch(() => undefined);
    if (stream) await collect(stream).catch(() => undefined);
    expect(await textsOf(openai, id)).toEqual([]);
  });

  test("grows also by an answer that is not to be stored", async () => {
    const { id } = await openai.conversations.create();
    const answer = await openai.responses.create({ model, input: "x", conversation: id, store: false });
    expect((answer as { store?: boolean }).store).toBe(false);
    expect(await textsOf(openai, id)).toEqual(["user: x", `assistant: ${answer.output_text}`]);
    expect(await refusal(openai.responses.retrieve(answer.id))).toEqual([404, "response_not_found", null]);
  });
});

test("two answers at once are both kept, in the order in which they end", async () => {
  const { id } = await openai.conversations.create();
  const both = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      openai.responses.create({ model: "talk/m", input: `q${n}`, conversation: id }),
    ),
  );
  const texts = await textsOf(openai, id);
  expect(texts.length).toBe(16);
  both.forEach((answer, n) => {
    const asked = texts.indexOf(`user: q${n}`);
    expect(texts[asked + 1]).toBe(`assistant: ${answer.output_text}`);
  });
});

test("an answer and a conversation cannot both be continued", async () => {
  const { id } = await openai.conversations.create();
  const { id: previous } = await openai.responses.create({ model: "talk/m", input: "x" });
  const asked = openai.responses.create({
    ...{ model: "talk/m", input: "x" },
    ...{ conversation: id, previous_response_id: previous },
  });
  expect(await refusal(asked)).toEqual([400, "mutually_exclusive_parameters", "previous_response_id"]);
});

test("a conversation of another key is unknown", async () => {
  const [a, b] = [KEYS.a, KEYS.b].map((apiKey) => openaiClient(keyed.url, { apiKey }));
  const { id } = await a!.conversations.create({ items: [{ role: "user", content: "secret" }] });
  const gone = [404, "conversation_not_found", "conversation"];
  const before = upstream.requests.length;
  expect(await refusal(b!.conversations.retrieve(id))).toEqual(gone);
  expect(await refusal(b!.conversations.delete(id))).toEqual(gone);
  expect(await refusal(b!.conversations.items.create(id, { items: [] }))).toEqual(gone);
  for (const model of ["talk/m", "vendor/m"])
    expect(await refusal(b!.responses.create({ model, input: "x", conversation: id }))).toEqual(gone);
  expect(upstream.requests.length).toBe(before);
  expect(await textsOf(a!, id)).toEqual(["user: secret"]);
  expect(await refusal(openaiClient(keyed.url, { apiKey: "wrong" }).conversations.retrieve(id))).toEqual([
    401,
    "invalid_api_key",
    null,
  ]);
});

test("an id of a vendor passes to a provider of the format alone", async () => {
  const asked = { input: "x", conversation: "conv_68a1" };
  await openai.responses.create({ ...asked, model: "vendor/m" });
  expect(bodyOf(last()).conversation).toBe("conv_68a1");
  const refused = await refusal(openai.responses.create({ ...asked, model: "talk/m" }));
  expect(refused).toMatchObject({ 0: 400 });
});

test("weir explains what a conversation adds to a request", async () => {
  const { id } = await openai.conversations.create({ items: [{ role: "user", content: "before" }] });
  const response = await fetch(`${gateway.url}/v1/explain?format=responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "talk/m", input: "x", conversation: id }),
  });
  expect(await response.json()).toMatchObject({ stored: { added_items: 1, stored_by: "weir" } });
  expect(await textsOf(openai, id)).toEqual(["user: before"]);
});

test("a conversation outlives the gateway", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-state-"));
  const first = await startAt(upstream, { state: folder }, {});
  const { id } = await openaiClient(first.url).conversations.create();
  const { output_text: text } = await openaiClient(first.url).responses.create({
    ...{ model: "claude/m", input: "one", conversation: id },
  });
  await first.stop();
  const second = await startAt(upstream, { state: folder }, {});
  expect(await textsOf(openaiClient(second.url), id)).toEqual(["user: one", `assistant: ${text}`]);
  await second.stop();
  await rm(folder, { recursive: true, force: true });
});
