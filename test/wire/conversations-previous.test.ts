/** Answers in conversations that a request continues by `previous_response_id`: with the conversation as they found it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { answerOf, bodyOf, messagesOf, refusal, startAt, textsOf } from "../helpers/conversation-hosts.ts";
import type { RunningGateway } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { startUpstream, type Upstream } from "../helpers/upstream.ts";

let upstream: Upstream;
let gateway: RunningGateway;
let openai: OpenAI;

beforeAll(async () => {
  upstream = startUpstream(answerOf);
  gateway = await startAt(upstream, {});
  openai = openaiClient(gateway.url);
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const last = () => upstream.requests.at(-1)!;

const ask = (model: string, input: string, more: object) =>
  openai.responses.create({ model, input, ...more }) as Promise<OpenAI.Responses.Response>;

describe.each(["talk", "claude", "local", "vendor"])("an answer of %s in a conversation", (host) => {
  const model = `${host}/m`;

  test("is continued with what was before it, and with nothing that came later", async () => {
    const items = [
      { role: "user" as const, content: "before" },
      { role: "assistant" as const, content: "yes" },
    ];
    const { id: conversation } = await openai.conversations.create({ items });
    const first = await ask(model, "one", { conversation });
    const second = await ask(model, "two", { conversation });
    await openai.conversations.items.create(conversation, { items: [{ role: "user", content: "later" }] });
    const texts = await textsOf(openai, conversation);
    const aside = await ask(model, "aside", { previous_response_id: first.id });
    const upToFirst = ["user: before", "assistant: yes", "user: one", `assistant: ${first.output_text}`];
    expect(messagesOf(last())).toEqual([...upToFirst, "user: aside"]);
    expect(bodyOf(last()).input?.filter(({ id }) => id !== undefined) ?? []).toEqual([]);
    expect(aside.conversation ?? null).toBeNull();
    await ask(model, "more", { previous_response_id: second.id });
    expect(messagesOf(last())).toEqual([
      ...upToFirst,
      ...["user: two", `assistant: ${second.output_text}`, "user: more"],
    ]);
    expect(await textsOf(openai, conversation)).toEqual(texts);
    if (host === "vendor") return;
    // An answer that continues such an answer has the conversation, too.
    await ask(model, "further", { previous_response_id: aside.id });
    expect(messagesOf(last())).toEqual([
      ...upToFirst,
      ...["user: aside", `assistant: ${aside.output_text}`, "user: further"],
    ]);
  });

  test("is the beginning where the conversation was empty", async () => {
    const { id: conversation } = await openai.conversations.create();
    const first = await ask(model, "one", { conversation });
    await openai.conversations.delete(conversation);
    await ask(model, "two", { previous_response_id: first.id });
    expect(messagesOf(last())).toEqual(["user: one", `assistant: ${first.output_text}`, "user: two"]);
  });
});

test("an answer whose conversation is gone, or the item before it, is not continued without them", async () => {
  const items = [{ role: "user" as const, content: "before" }];
  const unknown = [400, "previous_response_not_found", "previous_response_id"];
  const { id: one } = await openai.conversations.create({ items });
  const { id: two } = await openai.conversations.create({ items });
  const first = await ask("talk/m", "one", { conversation: one });
  const second = await ask("talk/m", "one", { conversation: two });
  await openai.conversations.delete(one);
  const [item] = (await openai.conversations.items.list(two, { order: "asc" })).data;
  await openai.conversations.items.delete(item!.id!, { conversation_id: two });
  const before = upstream.requests.length;
  for (const { id } of [first, second]) {
    expect(await refusal(ask("talk/m", "x", { previous_response_id: id }))).toEqual(unknown);
    expect((await openai.responses.retrieve(id)).status).toBe("completed");
  }
  expect(upstream.requests.length).toBe(before);
});
