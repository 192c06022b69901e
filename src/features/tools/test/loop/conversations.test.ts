/** Tools that weir runs in conversations that it keeps: each item of the turns is kept once, whichever way the tools are named. */
import { describe, expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { collect, openaiClient } from "../../../../../test/helpers/sdk.ts";
import { MODEL_FORMATS } from "./model.ts";
import { findTea, makeStage, type Stage } from "./stage.ts";

const stage = makeStage();

const SHOP = {
  type: "mcp",
  server_label: "shop",
  server_url: "weir/shop",
  require_approval: "never",
} as const satisfies OpenAI.Responses.Tool.Mcp;

type Asked = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

/** Asks by the list of tools, or by the header. */
function ask({ gateway }: Stage, by: "tools" | "header", body: Asked): Promise<OpenAI.Responses.Response> {
  const headers: Record<string, string> = by === "header" ? { "x-weir-tools": "shop" } : {};
  return openaiClient(gateway.url, { headers }).responses.create({
    ...{ model: "chat-completions/m", input: "Is there tea?" },
    ...(by === "tools" && { tools: [SHOP] }),
    ...body,
  });
}

async function itemsOf({ gateway }: Stage, id: string) {
  return collect(openaiClient(gateway.url).conversations.items.list(id, { order: "asc" }));
}

describe.each(["tools", "header"] as const)("tools named by %s", (by) => {
  test.each(MODEL_FORMATS.map((format) => [format]))("with a model of %s", async (format) => {
    const on = await stage(findTea, { stores: true });
    const model = `${format}/m`;
    const { id: conversation } = await openaiClient(on.gateway.url).conversations.create();
    const first = await ask(on, by, { model, conversation });
    expect(first.conversation).toEqual({ id: conversation });
    const kept = await itemsOf(on, conversation);
    expect(kept.map(({ type }) => type)).toEqual([
      "message",
      ...first.output.map(({ type }) => type),
    ] as never);
    expect(kept.slice(1).map(({ id }) => id)).toEqual(first.output.map(({ id }) => id!));
    const second = await ask(on, by, { model, conversation, input: "And milk?" });
    expect(second.output.map(({ type }) => type)).toEqual(["message"]);
    // The model has the call and its result of the first answer, once.
    expect(on.model.heard.at(-1)!.results).toEqual(["found tea"]);
    const all = await itemsOf(on, conversation);
    expect(all.length).toBe(kept.length + 2);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });
});

test("a streamed answer of several turns is kept once", async () => {
  const on = await stage(findTea, { stores: true });
  const { conversations, responses } = openaiClient(on.gateway.url);
  const { id: conversation } = await conversations.create();
  const stream = await responses.create({
    ...{ model: "messages/m", input: "Is there tea?", tools: [SHOP] },
    ...{ conversation, stream: true as const },
  });
  const last = (await collect(stream)).at(-1)!;
  const { output } = (last as OpenAI.Responses.ResponseCompletedEvent).response;
  const kept = await itemsOf(on, conversation);
  expect(kept.slice(1)).toEqual(output as never);
  expect(output.map(({ type }) => type)).toContain("mcp_call");
});

test("the user's consent reaches the call by the conversation", async () => {
  const on = await stage(findTea, { stores: true });
  const tools = [{ type: "mcp", server_label: "shop", server_url: "weir/shop" } as const];
  const { id: conversation } = await openaiClient(on.gateway.url).conversations.create();
  const first = await ask(on, "tools", { tools, conversation });
  const request = first.output.at(-1)!;
  expect(request.type).toBe("mcp_approval_request");
  const consent = { type: "mcp_approval_response", approval_request_id: request.id!, approve: true } as const;
  const second = await ask(on, "tools", { tools, conversation, input: [consent] });
  expect(second.output.map(({ type }) => type)).toEqual(["mcp_call", "message"]);
  expect(on.bench.calls.length).toBe(1);
  const third = await ask(on, "tools", { tools, conversation, input: "Thanks." });
  expect(third.output.map(({ type }) => type)).toEqual(["message"]);
  expect(on.bench.calls.length).toBe(1);
});

test("an answer whose second turn fails adds nothing", async () => {
  const on = await stage((heard) => (heard.results.length > 0 ? { status: 400 } : findTea(heard)), {
    stores: true,
  });
  const { id: conversation } = await openaiClient(on.gateway.url).conversations.create();
  const failed = await ask(on, "tools", { conversation }).catch((thrown: unknown) => thrown);
  expect(failed).toBeInstanceOf(Error);
  expect(on.bench.calls.length).toBe(1);
  expect(await itemsOf(on, conversation)).toEqual([]);
});
