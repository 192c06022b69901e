/** Fields of the request: limits, sampling, stop sequences, reasoning, tiers, own fields. */
import { describe, expect, test } from "bun:test";
import type { ChatRequest, ReasoningBlock } from "../../../src/core/chat.ts";
import {
  assistant,
  called,
  CLAUDE,
  delta,
  encode,
  end,
  GPT_OSS,
  LLAMA,
  messagesOf,
  metadata,
  NOVA,
  readStream,
  result,
  start,
  stop,
  text,
  told,
  tool,
  user,
} from "./make.ts";

const NOVA_2 = "us.amazon.nova-2-lite-v1:0";

describe("fields", () => {
  test("limits and sampling are in inferenceConfig; topK is a field of the model", () => {
    const parts: Partial<ChatRequest> = { maxTokens: 50, temperature: 0.5, topK: 7 };
    const claude = encode({ ...parts, stop: ["x"] });
    expect(claude.body.inferenceConfig).toEqual({ maxTokens: 50, temperature: 0.5, stopSequences: ["x"] });
    expect(claude.body.additionalModelRequestFields).toEqual({ top_k: 7 });
    expect(claude.body.additionalModelResponseFieldPaths).toEqual(["/stop_sequence"]);
    const nova = encode({ ...parts, topP: 0.9 }, { model: NOVA });
    expect(nova.body.inferenceConfig).toEqual({ maxTokens: 50, temperature: 0.5, topP: 0.9 });
    expect(nova.body.additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 7 } });
    expect(encode(parts, { model: LLAMA }).losses).toEqual(["dropped:topK"]);
  });

  test("no model name, no stream flag and no empty member is in the body", () => {
    expect(encode({ stream: true }).body).toEqual({
      messages: [{ role: "user", content: [{ text: "hi" }] }],
    });
  });

  test("a temperature above 1 is clamped", () => {
    const { body, losses } = encode({ temperature: 1.5 }, { model: LLAMA });
    expect(body.inferenceConfig).toEqual({ temperature: 1 });
    expect(losses).toEqual(["clamped:temperature"]);
  });

  test("four stop sequences are sent, and weir ends the answer at the others", () => {
    const sequences = ["a", "b", "c", "d", "STOP"];
    const { body, context } = encode({ stop: sequences }, { model: NOVA });
    expect(body.inferenceConfig).toEqual({ stopSequences: ["a", "b", "c", "d"] });
    const events = readStream(
      [start, delta(0, { text: "one ST" }), delta(0, { text: "OP two" }), stop(0), end(), metadata],
      {
        model: NOVA,
        request: context.request,
      },
    );
    expect(told(events)).toEqual(["text: one "]);
    expect(events.at(-1)).toMatchObject({ reason: { kind: "stop-sequence", stopSequence: "STOP" } });
    expect(encode({ stop: sequences }).body.inferenceConfig).toEqual({ stopSequences: sequences });
  });

  test("service tiers of the service pass, others are reported", () => {
    expect(encode({ serviceTier: "flex" }).body.serviceTier).toEqual({ type: "flex" });
    expect(encode({ serviceTier: "standard" }).body).not.toHaveProperty("serviceTier");
    expect(encode({ serviceTier: "scale" }).losses).toEqual(["dropped:serviceTier"]);
  });

  test("a plugin can set fields of the format, and add fields of the model", () => {
    const guardrailConfig = { guardrailIdentifier: "g", guardrailVersion: "1" };
    const { body } = encode({
      topK: 3,
      extra: { converse: { guardrailConfig, additionalModelRequestFields: { anthropic_beta: ["x"] } } },
    });
    expect(body.guardrailConfig).toEqual(guardrailConfig);
    expect(body.additionalModelRequestFields).toEqual({ top_k: 3, anthropic_beta: ["x"] });
  });

  test("messages come last, so that a longer conversation begins with the bytes of the shorter one", () => {
    const turns = [user(text("a")), assistant(text("b")), user(text("c"))];
    const options: Partial<ChatRequest> = { maxTokens: 9, tools: [tool("f")] };
    const [short, long] = [turns.slice(0, 1), turns].map((list) =>
      JSON.stringify(encode({ ...options, turns: list }).body),
    );
    expect(long!.startsWith(short!.slice(0, -2))).toBe(true);
  });
});

describe("the wish for reasoning", () => {
  const fieldsFor = (
    reasoning: ChatRequest["reasoning"],
    model: string,
    parts: Partial<ChatRequest> = {},
  ) => {
    const { body, losses } = encode({ reasoning, ...parts }, { model });
    return { fields: body.additionalModelRequestFields, losses };
  };

  test("is thinking and an effort for Claude", () => {
    expect(fieldsFor({ effort: "high" }, "us.anthropic.claude-sonnet-4-6")).toEqual({
      fields: { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
      losses: [],
    });
    expect(fieldsFor({ mode: "budget", budget: 2000 }, CLAUDE, { maxTokens: 8000 }).fields).toEqual({
      thinking: { type: "enabled", budget_tokens: 2000 },
    });
  });

  test("a budget is dropped with a forced tool, and after a call whose reasoning is missing", () => {
    const forced = fieldsFor({ effort: "high" }, CLAUDE, {
      tools: [tool("f")],
      toolChoice: { type: "required" },
    });
    expect(forced).toEqual({ fields: undefined, losses: ["dropped:reasoning"] });
    const turns = [user(text("u")), assistant(called("a")), user(result("a", text("r")))];
    expect(fieldsFor({ effort: "high" }, CLAUDE, { tools: [tool("f")], turns }).losses).toEqual([
      "dropped:reasoning",
    ]);
  });

  test("is reasoningConfig for Nova 2, where the effort high goes without limits only", () => {
    const configured = (effort: string) => ({
      reasoningConfig: { type: "enabled", maxReasoningEffort: effort },
    });
    expect(fieldsFor({ effort: "high" }, NOVA_2)).toEqual({ fields: configured("high"), losses: [] });
    expect(fieldsFor({ effort: "high" }, NOVA_2, { maxTokens: 100 })).toEqual({
      fields: configured("medium"),
      losses: ["clamped:effort"],
    });
    expect(fieldsFor({ mode: "adaptive" }, NOVA_2).fields).toEqual(configured("medium"));
    expect(fieldsFor({ mode: "off" }, NOVA_2)).toEqual({ fields: undefined, losses: [] });
  });

  test("is reasoning_effort for models of OpenAI and reasoning_config for Qwen", () => {
    expect(fieldsFor({ effort: "medium" }, GPT_OSS).fields).toEqual({ reasoning_effort: "medium" });
    expect(fieldsFor({ effort: "high" }, "qwen.qwen3-32b-v1:0").fields).toEqual({ reasoning_config: "high" });
  });

  test("is reported as lost for models without it", () => {
    expect(fieldsFor({ effort: "high" }, LLAMA)).toEqual({ fields: undefined, losses: ["dropped:effort"] });
    expect(
      fieldsFor({ effort: "high" }, "arn:aws:bedrock:us-east-1:1:application-inference-profile/x").losses,
    ).toEqual(["dropped:effort"]);
  });
});

describe("reasoning of earlier turns", () => {
  const replayed = (block: Omit<ReasoningBlock, "type">, model: string) => {
    const turns = [user(text("u")), assistant({ type: "reasoning", ...block }, text("a")), user(text("v"))];
    const { body, losses } = encode({ turns }, { model });
    return [...messagesOf(body)[1]!.slice(1, -1), ...losses];
  };
  const SIGNED = { text: " thought ", signature: "U0lH" };

  test("goes back to its own provider unchanged: signed, signature alone, encrypted", () => {
    expect(replayed({ ...SIGNED, origin: "anthropic" }, CLAUDE)).toEqual([
      { reasoningContent: { reasoningText: { text: " thought ", signature: "U0lH" } } },
    ]);
    expect(replayed({ text: "", signature: "U0lH", origin: "anthropic" }, CLAUDE)).toEqual([
      { reasoningContent: { reasoningText: { text: "", signature: "U0lH" } } },
    ]);
    expect(replayed({ text: "", redacted: "cnM=", origin: "bedrock" }, GPT_OSS)).toEqual([
      { reasoningContent: { redactedContent: "cnM=" } },
    ]);
  });

  test("what Messages calls data is base64 of its ASCII text for Claude", () => {
    expect(replayed({ text: "", redacted: "Eu8EsecrEt+/=", origin: "anthropic" }, CLAUDE)).toEqual([
      { reasoningContent: { redactedContent: Buffer.from("Eu8EsecrEt+/=").toString("base64") } },
    ]);
  });

  test("without a signature it is dropped for Claude and gpt-oss, and kept without the member for Nova", () => {
    for (const [origin, model] of [
      ["anthropic", CLAUDE],
      ["bedrock", GPT_OSS],
    ] as const)
      expect(replayed({ text: "t", origin }, model)).toEqual(["dropped:turns"]);
    expect(replayed({ text: "t", origin: "bedrock" }, NOVA)).toEqual([
      { reasoningContent: { reasoningText: { text: "t" } } },
    ]);
  });

  test("of another vendor is dropped, with a loss", () => {
    for (const model of [CLAUDE, NOVA, GPT_OSS]) {
      expect(replayed({ ...SIGNED, origin: "elsewhere" }, model)).toEqual(["dropped:turns"]);
      expect(replayed({ text: "", redacted: "x", origin: "elsewhere" }, model)).toEqual(["dropped:turns"]);
    }
  });

  test("comes back as it went: Messages to Converse to Messages", () => {
    const data = "Eu8EsecrEt+/=";
    const [block] = replayed({ text: "", redacted: data, origin: "anthropic" }, CLAUDE) as [
      { reasoningContent: { redactedContent: string } },
    ];
    const events = readStream([start, delta(0, block), stop(0), end(), metadata]);
    expect(told(events)).toEqual([`reasoning ${data} anthropic: `]);
  });
});
