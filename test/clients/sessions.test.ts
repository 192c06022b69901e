/**
 * Tool loops of several turns between two gateways that share nothing: the same history is written the same way and only
 * grows, ids and names stay paired, reasoning finds the way back to its maker and to nobody else.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type Anthropic from "@anthropic-ai/sdk";
import type { JsonObject } from "../../src/core/json.ts";
import { type Answer, json, sse } from "../helpers/upstream.ts";
import { playChat, playMessages, prefixOf, sameOfBoth, type Stage, startStage } from "./session.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

/** Names and ids no vendor takes as they are. */
const DOTTED = "files.read/v2";
const LONG = `search_${"in_the_archive_".repeat(6)}`;
const ODD_ID = `functions.search:0 ${"x".repeat(80)}`;

const objects = (value: unknown) => value as JsonObject[];
const lastBody = () => JSON.parse(stage.upstream.requests.at(-1)!.body.toString("utf8")) as JsonObject;

const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

/** A streamed answer of a messages upstream with these whole blocks. */
function anthropic(blocks: JsonObject[]): Answer {
  const usage = { input_tokens: 3, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  const calls = blocks.some(({ type }) => type === "tool_use");
  return sse([
    event("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } }),
    ...blocks.flatMap((block, index) => [
      event("content_block_start", { index, content_block: emptied(block) }),
      ...deltas(block).map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", {
      delta: { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: 9 },
    }),
    event("message_stop"),
  ]);
}

function emptied(block: JsonObject): JsonObject {
  if (block.type === "thinking") return { ...block, thinking: "", signature: "" };
  if (block.type === "text") return { ...block, text: "" };
  return block.type === "tool_use" ? { ...block, input: {} } : block;
}

function deltas(block: JsonObject): object[] {
  if (block.type === "text") return [{ type: "text_delta", text: block.text }];
  if (block.type === "tool_use")
    return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  if (block.type !== "thinking") return [];
  return [
    { type: "thinking_delta", thinking: block.thinking },
    { type: "signature_delta", signature: block.signature },
  ];
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** A streamed answer of a chat-completions upstream. */
function chat(
  reasoning: object,
  text: string,
  calls: { id?: string; name: string; input: object }[],
): Answer {
  return sse([
    chunk({ role: "assistant", content: "" }),
    chunk(reasoning),
    ...(text ? [chunk({ content: text })] : []),
    ...calls.map(({ id, name, input }, index) =>
      chunk({
        tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
      }),
    ),
    chunk({}, calls.length ? "tool_calls" : "stop"),
    "data: [DONE]\n\n",
  ]);
}

const parameters = { type: "object", properties: { q: { type: "string" } } };
const chatTools = [DOTTED, LONG].map((name) => ({ type: "function", function: { name, parameters } }));

const THINKING = { type: "thinking", thinking: "Look it up.", signature: "U2lnbmF0dXJlIG9uZQ==" };
const REDACTED = { type: "redacted_thinking", data: "UmVkYWN0ZWQ=" };
const USER_ID = "call_0";

/** What the upstream was told the two tools are called. */
const sentNames = () => objects(lastBody().tools).map(({ name }) => String(name));

describe("a chat client's tool loop at a messages upstream", () => {
  const results = (reply: JsonObject) =>
    objects(reply.tool_calls ?? []).map(({ id }, index) => ({
      role: "tool",
      tool_call_id: id!,
      content: `result ${index}\n`,
    }));

  /** The upstream calls the tools by the names it was given, with the same ids in every turn. */
  async function play() {
    stage.upstream.answer(() => anthropic([{ type: "text", text: "x" }]));
    const request = {
      model: "claude-opus-4-6",
      reasoning_effort: "high",
      tools: chatTools,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Find it." },
        // Written by another gateway and another vendor, with an id nobody else takes.
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: ODD_ID, type: "function", function: { name: DOTTED, arguments: '{"q":"a"}' } }],
        },
        { role: "tool", tool_call_id: ODD_ID, content: "nothing" },
        { role: "user", content: "Try again." },
      ],
    };
    await fetch(`${stage.gateways[0]!.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    const [dotted, long] = sentNames() as [string, string];
    const use = (id: string, name: string, q: string) => ({ type: "tool_use", id, name, input: { q } });
    const script = [
      anthropic([
        THINKING,
        { type: "text", text: "Two at once." },
        use("toolu_0", dotted, "b"),
        use("toolu_1", long, "c"),
      ]),
      anthropic([REDACTED, use("toolu_0", long, "d")]),
      anthropic([{ type: "text", text: "Found." }]),
    ];
    return { played: await playChat(stage, request, script, results), names: [dotted, long] };
  }

  test("each body is the beginning of the next one, and the same from both gateways", async () => {
    const bodies = sameOfBoth((await play()).played.bodies);
    expect(bodies).toHaveLength(3);
    expect(bodies[1]).toStartWith(prefixOf(bodies[0]!));
    expect(bodies[2]).toStartWith(prefixOf(bodies[1]!));
  });

  test("odd and repeated ids are legal, distinct and paired", async () => {
    const { played } = await play();
    const body = JSON.parse(played.bodies[2]![0]!) as JsonObject;
    const blocks = objects(body.messages).flatMap(({ content }) => objects(content));
    const called = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
    expect(called).toHaveLength(4);
    expect(new Set(called).size).toBe(4);
    for (const id of called) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(blocks.filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id)).toEqual(
      called,
    );
  });

  test("names the upstream cannot take come back as the client wrote them, streamed", async () => {
    const { played, names } = await play();
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const called = played.replies.map((reply) =>
      objects(reply.tool_calls ?? []).map((call) => (call.function as JsonObject).name),
    );
    expect(called).toEqual([[DOTTED, LONG], [LONG], []]);
  });

  test("signed and redacted thinking is back in its place, byte for byte", async () => {
    const { played } = await play();
    const body = JSON.parse(played.bodies[2]![1]!) as JsonObject;
    const turns = objects(body.messages).filter(({ role }) => role === "assistant");
    expect(turns.map(({ content }) => objects(content)[0])).toEqual([
      expect.objectContaining({ type: "tool_use" }),
      THINKING,
      REDACTED,
    ]);
  });
});

describe("a messages client's tool loop at a chat-completions upstream", () => {
  const request = (model: string): Omit<Anthropic.MessageStreamParams, "stream"> => ({
    model,
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    tools: ["read", "search"].map((name) => ({ name, input_schema: { type: "object" as const } })),
    messages: [{ role: "user", content: "Find it." }],
  });
  const results = (reply: Anthropic.Message): Anthropic.MessageParam[] => [
    {
      role: "user",
      content: reply.content.flatMap((block) =>
        block.type === "tool_use"
          ? [{ type: "tool_result" as const, tool_use_id: block.id, content: `result of ${block.name}` }]
          : [],
      ),
    },
  ];
  const SIGNED = {
    type: "reasoning.text",
    text: "Look it up.",
    signature: "b3Blbg",
    format: "house-v1",
    index: 0,
  };

  /** Ids: the same in every turn, one nobody else takes, one that is missing. */
  const script = (reasoning: (turn: number) => object) => [
    chat(reasoning(0), "Two at once.", [
      { id: USER_ID, name: "read", input: { q: "a" } },
      { id: ODD_ID, name: "search", input: { q: "b" } },
    ]),
    chat(reasoning(1), "", [
      { id: USER_ID, name: "read", input: {} },
      { name: "search", input: { q: "c" } },
    ]),
    chat(reasoning(2), "Found.", []),
  ];
  const signed = () => ({ reasoning_details: [SIGNED] });
  const plain = (turn: number) => ({ reasoning_content: `Thought ${turn}.` });

  for (const [host, reasoning] of [
    ["signer", signed],
    ["house", plain],
  ] as const) {
    test(`at ${host}, each body is the beginning of the next one`, async () => {
      const played = await playMessages(stage, request(`${host}/m`), script(reasoning), results);
      // Minted ids are each call's own, so each gateway is compared with itself.
      const [one, two, three] = played.bodies.map((bodies) => bodies[0]!) as [string, string, string];
      expect(two).toStartWith(prefixOf(one));
      expect(three).toStartWith(prefixOf(two));
      sameOfBoth(played.bodies);
    });

    test(`at ${host}, missing, odd and repeated ids stay paired`, async () => {
      const played = await playMessages(stage, request(`${host}/m`), script(reasoning), results);
      const messages = objects((JSON.parse(played.bodies[2]![0]!) as JsonObject).messages);
      const called = messages.flatMap(({ tool_calls }) => objects(tool_calls ?? []));
      const ids = called.map(({ id }) => String(id));
      expect(new Set(ids).size).toBe(4);
      for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
      const answered = messages.filter(({ role }) => role === "tool");
      expect(answered.map((message) => message.tool_call_id)).toEqual(ids);
      expect(answered.map(({ content }) => content)).toEqual(
        called.map((call) => `result of ${String((call.function as JsonObject).name)}`),
      );
    });
  }

  test("signed reasoning is seen as thinking and comes back to its maker whole", async () => {
    const played = await playMessages(stage, request("signer/m"), script(signed), results);
    const [thinking] = played.replies[0]!.content as Anthropic.ThinkingBlock[];
    expect(thinking).toMatchObject({ type: "thinking", thinking: SIGNED.text });
    expect(thinking!.signature).toStartWith("weir1.signer.");
    const [first] = objects(
      objects((JSON.parse(played.bodies[2]![0]!) as JsonObject).messages).find(
        ({ role }) => role === "assistant",
      )!.reasoning_details,
    );
    expect(first).toMatchObject({ type: "reasoning.text", text: SIGNED.text, signature: SIGNED.signature });
  });

  test("plain reasoning comes back where it is asked for, and nowhere else", async () => {
    const played = await playMessages(stage, request("house/m"), script(plain), results);
    const thoughts = objects((JSON.parse(played.bodies[2]![0]!) as JsonObject).messages)
      .filter(({ role }) => role === "assistant")
      .map((message) => message.reasoning_content);
    expect(thoughts).toEqual(["Thought 0.", "Thought 1."]);
    await askMessages("openai/gpt-4.1", played.replies);
    expect(stage.upstream.requests.at(-1)!.body.toString()).not.toContain("Thought 0.");
  });

  /** The session goes on with another model. */
  async function askMessages(model: string, replies: Anthropic.Message[]): Promise<void> {
    stage.upstream.answer(() => json({}, 400));
    const history = replies
      .slice(0, 2)
      .flatMap((reply) => [{ role: "assistant" as const, content: reply.content }, ...results(reply)]);
    const { messages, ...rest } = request(model);
    await fetch(`${stage.gateways[1]!.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...rest, messages: [...messages, ...history] }),
    });
  }

  test("another vendor's reasoning never reaches Anthropic, and its tool calls do", async () => {
    for (const [host, reasoning] of [
      ["signer", signed],
      ["house", plain],
    ] as const) {
      const played = await playMessages(stage, request(`${host}/m`), script(reasoning), results);
      await askMessages("claude-opus-4-6", played.replies);
      const body = stage.upstream.requests.at(-1)!.body.toString();
      expect(stage.upstream.requests.at(-1)!.path).toStartWith("/v1/messages");
      expect(body).not.toContain("weir1.");
      expect(body).not.toContain('"thinking":"');
      expect(body).toContain('"type":"tool_use"');
      expect(body).toContain("cache_control");
    }
  });

  test("Anthropic's reasoning never reaches another vendor", async () => {
    const script = [anthropic([THINKING, REDACTED, { type: "text", text: "Done." }])];
    const played = await playMessages(stage, request("claude-opus-4-6"), script, results);
    expect<unknown>(played.replies[0]!.content.slice(0, 2)).toEqual([THINKING, REDACTED]);
    for (const model of ["house/m", "signer/m", "openai/gpt-4.1"]) {
      await askMessages(model, played.replies);
      const body = stage.upstream.requests.at(-1)!.body.toString();
      expect(body).toContain("Done.");
      for (const secret of [THINKING.signature, THINKING.thinking, REDACTED.data])
        expect(body).not.toContain(secret);
    }
  });
});
