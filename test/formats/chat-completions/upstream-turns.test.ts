import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Block, ToolCallBlock, ToolResultBlock, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { sealMembers } from "../../../src/formats/chat-completions/reasoning.ts";
import { encode, failure } from "./make.ts";

const say = (text: string): Block => ({ type: "text", text });
const user = (...blocks: (Block | string)[]): Turn => ({
  role: "user",
  blocks: blocks.map((block) => (typeof block === "string" ? say(block) : block)),
});
const assistant = (...blocks: (Block | string)[]): Turn => ({ ...user(...blocks), role: "assistant" });
const system = (...blocks: (Block | string)[]): Turn => ({ ...user(...blocks), role: "system" });
const call = (id: string, name = "f", input = "{}"): ToolCallBlock => ({
  type: "tool-call",
  id,
  name,
  input,
  kind: "function",
});
const result = (id: string, ...blocks: (Block | string)[]): ToolResultBlock => ({
  type: "tool-result",
  id,
  blocks: user(...blocks).blocks,
});
const image: Block = { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } };
const imagePart = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const pdf: Block = {
  type: "document",
  source: { type: "base64", mediaType: "application/pdf", data: "AAAA" },
};

const turnsTo = (turns: Turn[], traits: Traits = {}) => encode({ turns }, { traits });
const sent = (...turns: Turn[]) => turnsTo(turns).messages;

describe("system text", () => {
  test("blocks are joined; a mid-conversation turn stays where it is (F-54)", () => {
    expect(sent(system("A", "B"), user("hi"), system("C"), assistant("ok"))).toEqual([
      { role: "system", content: "A\n\nB" },
      { role: "user", content: "hi" },
      { role: "system", content: "C" },
      { role: "assistant", content: "ok" },
    ]);
  });

  test("G-44: the billing header is left out; nothing is left means no message", () => {
    const header = "x-anthropic-billing-header: cc_version=2";
    expect(sent(system(header, "A"), user("hi"))[0]).toEqual({ role: "system", content: "A" });
    expect(sent(system(header), user("hi"))).toEqual([{ role: "user", content: "hi" }]);
  });

  test("F-55, G-67: where only the first place is allowed, later ones become user text and nothing is lost", () => {
    const traits: Traits = { systemPlacement: "first-only" };
    const { messages } = turnsTo(
      [system("A"), system("B"), user("hi"), system("C"), assistant("ok"), system("D"), user("x")],
      traits,
    );
    expect(messages.map((message) => message.role)).toEqual([
      "system",
      "user",
      "user",
      "assistant",
      "user",
      "user",
    ]);
    expect(messages[0]).toEqual({ role: "system", content: "A\n\nB" });
    expect(messages[2]).toEqual({ role: "user", content: "<system-reminder>\nC\n</system-reminder>" });
  });

  test("G-66: between a call and its result, system text comes behind the result", () => {
    expect(
      sent(user("go"), assistant(call("a")), system("S"), user(result("a", "1"))).map(
        (message) => message.role,
      ),
    ).toEqual(["user", "assistant", "tool", "system"]);
  });
});

describe("user content", () => {
  test("text alone is a text, anything else a list", () => {
    expect(sent(user("a", "b"))).toEqual([{ role: "user", content: "a\n\nb" }]);
    expect(sent(user("a", image))).toEqual([
      { role: "user", content: [{ type: "text", text: "a" }, imagePart] },
    ]);
    expect(sent({ ...user("a"), name: "eve" })).toEqual([{ role: "user", content: "a", name: "eve" }]);
  });

  test("images by address keep their detail; without vision a note and a loss", () => {
    const remote: Block = {
      type: "image",
      source: { type: "url", url: "https://x.test/a.png" },
      detail: "low",
    };
    expect(sent(user(remote))).toEqual([
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: "https://x.test/a.png", detail: "low" } }],
      },
    ]);
    const blind = turnsTo([user("look", image)], { images: false });
    expect(blind.messages[0]!.content).toBe("look\n\n[image omitted]");
    expect(blind.losses).toEqual(["dropped:messages[0].content[1]"]);
  });

  test("documents: text with its title, files where they are taken, else refused by their place", async () => {
    const text: Block = {
      type: "document",
      source: { type: "text", mediaType: "text/plain", text: "body" },
      title: "T",
      context: "C",
    };
    const blocks: Block = { type: "document", source: { type: "blocks", blocks: [say("inner"), image] } };
    expect(sent(user(text))[0]!.content).toBe("T\nC\nbody");
    expect(sent(user(blocks))[0]!.content).toEqual([{ type: "text", text: "inner" }, imagePart]);
    expect(turnsTo([user(pdf)], { files: true }).messages[0]!.content).toEqual([
      { type: "file", file: { filename: "document.pdf", file_data: "data:application/pdf;base64,AAAA" } },
    ]);
    const error = await failure(() => sent(user("x", pdf)));
    expect(error).toMatchObject({ kind: "invalid-request", param: "messages[0].content[1]" });
  });

  test("G-87: a file id of another vendor is refused by its place", async () => {
    for (const block of [
      { type: "image", source: { type: "file", id: "f" } },
      { type: "document", source: { type: "file", id: "f" } },
    ] as Block[])
      expect((await failure(() => sent(user(block)))).param).toBe("messages[0].content[0]");
  });

  test("citations are told as a loss", () => {
    const cited: Block = {
      type: "document",
      source: { type: "text", mediaType: "text/plain", text: "x" },
      citations: true,
    };
    expect(turnsTo([user(cited)]).losses).toEqual(["dropped:messages[0].content[0].citations"]);
  });

  test("F-66: blocks of another format: their text where they have one, else a loss", () => {
    const known: Block = { type: "foreign", format: "messages", value: {}, text: "[web search: T - u]" };
    const unknown: Block = { type: "foreign", format: "messages", value: { type: "input_json_delta" } };
    const own: Block = { type: "foreign", format: "chat-completions", value: { type: "hologram" } };
    const { messages, losses } = turnsTo([user("q", known, unknown), user(own)]);
    expect(messages[0]!.content).toBe("q\n\n[web search: T - u]");
    expect(messages[1]!.content).toEqual([{ type: "hologram" }]);
    expect(losses).toEqual(["converted:messages[0].content[1]", "dropped:messages[0].content[2]"]);
  });

  test("F-58, F-59, G-63: blank text is never sent, and a turn without text is no message", () => {
    expect(sent(user("a", " \n"), assistant("\n\n", call("x")), user(result("x", "1")), user("  "))).toEqual([
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "x", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "x", content: "1" },
    ]);
  });

  test("a request in which nobody says anything is refused", async () => {
    expect((await failure(() => sent(user(" ")))).param).toBe("messages");
  });
});

describe("assistant turns", () => {
  test("text blocks follow each other; a blank line where something stood between", () => {
    const turn = assistant(
      "a",
      "b",
      call("x"),
      "c",
      { type: "foreign", format: "messages", value: {}, text: "[d]" },
      "e",
    );
    expect(sent(user("q"), turn, user(result("x", "1")))[1]).toMatchObject({
      content: "ab\n\nc\n\n[d]\n\ne",
    });
  });

  test("a refusal is said as text", () => {
    expect(sent(user("q"), assistant({ type: "refusal", text: "no" }), user("why"))[1]).toEqual({
      role: "assistant",
      content: "no",
    });
  });

  test("an empty turn is dropped, a begun answer stays last and is told", () => {
    expect(sent(user("q"), assistant(""), user("r")).map(({ role }) => role)).toEqual(["user", "user"]);
    const { messages, losses } = turnsTo([user("q"), assistant("The answer is")]);
    expect(messages.at(-1)).toEqual({ role: "assistant", content: "The answer is" });
    expect(losses).toEqual(["downgraded:messages[1]"]);
  });

  test("arguments are passed on as they are, blank ones as {}", () => {
    const turns = [
      user("q"),
      assistant(call("a", "f", '{ "x":1.0 }'), call("b", "f", "")),
      user(result("a", "1"), result("b", "2")),
    ];
    expect(
      (sent(...turns)[1]!.tool_calls as JsonObject[]).map(
        (sentCall) => (sentCall.function as JsonObject).arguments,
      ),
    ).toEqual(['{ "x":1.0 }', "{}"]);
  });
});

describe("tool results", () => {
  test("F-62: results, then the user, and no message invented in between", () => {
    const turns = [
      user("go"),
      assistant(call("a"), call("b")),
      user("first this", result("b", "2"), result("a", "1", "1b"), "then that"),
    ];
    expect(sent(...turns).slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "1\n1b" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "user", content: "first this\n\nthen that" },
    ]);
  });

  test("errors are said in the text, empty results are empty texts", () => {
    const turns = [
      user("go"),
      assistant(call("a"), call("b"), call("c")),
      user({ ...result("a", "boom"), error: true }, { ...result("b"), error: true }, result("c")),
    ];
    expect(
      sent(...turns)
        .slice(2)
        .map(({ content }) => content),
    ).toEqual(["[tool error] boom", "[tool error]", ""]);
  });

  test("F-60, F-61, G-83: images of two parallel results follow the last tool message, in order", () => {
    const other: Block = { type: "image", source: { type: "url", url: "https://x.test/b.png" } };
    const turns = [
      user("go"),
      assistant(call("a"), call("b")),
      user(result("a", "text", image), result("b", other), "look"),
    ];
    expect(sent(...turns).slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "text\n[image 1 of call a follows]" },
      { role: "tool", tool_call_id: "b", content: "[image 1 of call b follows]" },
      {
        role: "user",
        content: [imagePart, { type: "image_url", image_url: { url: "https://x.test/b.png" } }],
      },
      { role: "user", content: "look" },
    ]);
  });

  test("F-60: where tool messages take images they stay inside", () => {
    const { messages } = turnsTo([user("go"), assistant(call("a")), user(result("a", "text", image))], {
      imageInToolMessage: true,
    });
    expect(messages.slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "text" }, imagePart] },
    ]);
  });

  test("G-65: a result nobody asked for becomes user text, a call without a result gets one", () => {
    const turns = [user("go"), assistant(call("a")), user(result("z", "lost"), "next")];
    const { messages, losses } = turnsTo(turns);
    expect(messages.slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "[tool error] no result was provided" },
      { role: "user", content: "[result of tool z]\n\nlost\n\nnext" },
    ]);
    expect(losses).toEqual(["synthesized:messages", "repaired:messages[2]"]);
    expect(turnsTo([...turns, assistant("ok"), user("more")]).messages.slice(0, messages.length)).toEqual(
      messages,
    );
  });

  test("of two results of one call the last one wins", () => {
    const { messages, losses } = turnsTo([
      user("go"),
      assistant(call("a")),
      user(result("a", "1"), result("a", "2")),
    ]);
    expect(messages.slice(2)).toEqual([{ role: "tool", tool_call_id: "a", content: "2" }]);
    expect(losses).toEqual(["repaired:messages[2]"]);
  });

  test("calls of assistant turns in a row are answered behind the last of them", () => {
    const turns = [
      user("go"),
      assistant(call("a")),
      assistant("and", call("b")),
      user(result("a", "1"), result("b", "2")),
    ];
    expect(sent(...turns).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
    expect((sent(...turns)[1]!.tool_calls as JsonObject[]).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("G-89, G-90: ids that do not fit, or repeat, stay paired; Mistral gets nine characters", () => {
    const id = `functions.f:${"0".repeat(80)}`;
    for (const traits of [{}, { toolIds: "mistral" }] as Traits[]) {
      const { messages } = turnsTo(
        [user("go"), assistant(call(id)), user(result(id, "1")), assistant(call(id)), user(result(id, "2"))],
        traits,
      );
      const called = [1, 3].map((at) => (messages[at]!.tool_calls as JsonObject[])[0]!.id as string);
      expect([messages[2]!.tool_call_id, messages[4]!.tool_call_id]).toEqual(called);
      expect(new Set(called).size).toBe(2);
      for (const one of called)
        expect(one).toMatch(traits.toolIds ? /^[a-zA-Z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,40}$/);
    }
  });
});

describe("reasoning of earlier turns", () => {
  const replay = (block: Block, traits: Traits, provider = "vendor") =>
    encode({ turns: [user("q"), assistant(block, "a"), user("r")] }, { traits, provider });

  test("G-97: plain text goes back only where the traits ask for it", () => {
    const block: Block = { type: "reasoning", text: "thought" };
    expect(replay(block, {}).messages[1]).toEqual({ role: "assistant", content: "a" });
    for (const reasoningReplay of ["required", "optional"] as const)
      expect(replay(block, { reasoningReplay }).messages[1]).toEqual({
        role: "assistant",
        content: "a",
        reasoning_content: "thought",
      });
  });

  test("F-46, G-93: what another provider made never leaves, signed or not", () => {
    const blocks: Block[] = [
      { type: "reasoning", text: "t", signature: "sig", origin: "anthropic" },
      { type: "reasoning", text: "", redacted: "enc", origin: "gemini" },
      { type: "reasoning", text: "t", origin: "deepseek" },
    ];
    for (const block of blocks) {
      const { body, losses } = replay(block, { reasoningReplay: "required" });
      expect(JSON.stringify(body)).not.toMatch(/sig|enc|reasoning/);
      expect(losses).toEqual(["dropped:messages[1]"]);
    }
  });

  test("F-49: the provider's own signature goes back with its text, or without any", () => {
    const members = sealMembers({ signature: "sig", format: "anthropic-claude-v1" });
    const signed: Block = { type: "reasoning", text: "", signature: members, origin: "openrouter" };
    expect(replay(signed, {}, "openrouter").messages[1]).toEqual({
      role: "assistant",
      content: "a",
      reasoning_details: [
        { type: "reasoning.text", text: "", signature: "sig", format: "anthropic-claude-v1" },
      ],
    });
    const bare: Block = { type: "reasoning", text: "t", signature: "sig", origin: "openrouter" };
    expect(replay(bare, {}, "openrouter").messages[1]).toMatchObject({
      reasoning_content: "t",
      reasoning_details: [{ text: "t", signature: "sig" }],
    });
    const redacted: Block = {
      type: "reasoning",
      text: "",
      redacted: sealMembers({ data: "enc", id: "r1" }),
      origin: "openrouter",
    };
    expect(replay(redacted, {}, "openrouter").messages[1]).toMatchObject({
      reasoning_details: [{ type: "reasoning.encrypted", data: "enc", id: "r1" }],
    });
  });

  test("F-50: Gemini's signature stands on its call again", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const turns = [
      user("q"),
      assistant(
        { type: "reasoning", text: "", redacted: sealMembers({ extra_content }), origin: "gemini" },
        call("a"),
        call("b"),
      ),
      user(result("a", "1"), result("b", "2")),
    ];
    const [first, second] = encode({ turns }, { provider: "gemini" }).messages[1]!.tool_calls as JsonObject[];
    expect(first!.extra_content).toEqual(extra_content);
    expect(second).not.toHaveProperty("extra_content");
    expect(JSON.stringify(encode({ turns }, { provider: "other" }).body)).not.toContain("sig");
  });
});

describe("cache marks", () => {
  const marked = (text: string, ttl?: "5m" | "1h"): Block => ({
    type: "text",
    text,
    cache: ttl ? { ttl } : {},
  });
  const options = { model: "gpt-5.6-sol" };

  test("G-86: they are written where the model knows them and vanish elsewhere", () => {
    const turns = [system(marked("A", "1h"), "B"), user(marked("C"))];
    expect(JSON.stringify(encode({ turns }, { model: "gpt-4o" }).body)).not.toMatch(/cache/);
    expect(encode({ turns }, options).messages).toEqual([
      {
        role: "system",
        content: [
          { type: "text", text: "A", prompt_cache_breakpoint: { mode: "explicit", ttl: "30m" } },
          { type: "text", text: "B" },
        ],
      },
      { role: "user", content: [{ type: "text", text: "C", prompt_cache_breakpoint: { mode: "explicit" } }] },
    ]);
  });

  test("G-85: of more than four the last four are kept", () => {
    const { messages } = encode(
      { turns: ["a", "b", "c", "d", "e", "f"].map((text) => user(marked(text))) },
      options,
    );
    const written = messages.map((message) => JSON.stringify(message).includes("breakpoint"));
    expect(written).toEqual([false, false, true, true, true, true]);
  });
});

const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.constantFrom("a", " ", "\n", "long text").map(say),
  fc.constantFrom<Block>(image, { type: "reasoning", text: "r" }, { type: "refusal", text: "no" }),
  fc.constantFrom<Block>(
    { type: "foreign", format: "messages", value: {} },
    { type: "foreign", format: "messages", value: {}, text: "f" },
  ),
);
const anyId = fc.constantFrom("a", "b", "c.d", "x".repeat(50));
const anyTurn: fc.Arbitrary<Turn> = fc.oneof(
  fc
    .array(
      fc.oneof(
        anyBlock,
        anyId.map((id) => result(id, "r")),
      ),
      { maxLength: 3 },
    )
    .map((blocks) => user(...blocks)),
  fc
    .array(
      fc.oneof(
        anyBlock,
        anyId.map((id) => call(id)),
      ),
      { maxLength: 3 },
    )
    .map((blocks) => assistant(...blocks)),
  fc.constant(system("S")),
);
const anyTraits: fc.Arbitrary<Traits> = fc.constantFrom<Traits>(
  {},
  { systemPlacement: "first-only", images: false, reasoningReplay: "required" },
  { toolIds: "mistral", imageInToolMessage: true },
);

describe("any history", () => {
  const histories = fc
    .array(anyTurn, { minLength: 1, maxLength: 8 })
    .map((turns) => [user("begin"), ...turns]);

  test("G-62: equal requests give equal bytes, and a further turn keeps the old bytes as prefix", () => {
    fc.assert(
      fc.property(histories, anyTraits, (turns, traits) => {
        const written = JSON.stringify(turnsTo(turns, traits).body);
        expect(JSON.stringify(turnsTo(structuredClone(turns), traits).body)).toBe(written);
        // What may still be answered is not settled: the assistant's last word and results are.
        const settled = [...turns, assistant("ok")];
        const longer = [...settled, user("more")];
        const prefix = JSON.stringify(turnsTo(settled, traits).body).slice(0, -2);
        expect(JSON.stringify(turnsTo(longer, traits).body).startsWith(prefix)).toBeTrue();
      }),
    );
  });

  test("G-63, G-65, G-68: no blank text, every call answered at once, no message of the assistant's invented", () => {
    fc.assert(
      fc.property(histories, anyTraits, (turns, traits) => {
        const { messages } = turnsTo(turns, traits);
        expect(messages.filter(({ role }) => role === "assistant").length).toBeLessThanOrEqual(
          turns.filter(({ role }) => role === "assistant").length,
        );
        for (const [at, message] of messages.entries()) {
          for (const text of textsIn(message)) if (message.role !== "tool") expect(text).toMatch(/\S/);
          const ids = ((message.tool_calls as JsonObject[] | undefined) ?? []).map(({ id }) => id);
          if (ids.length > 0) expect(answersBehind(messages, at)).toEqual(expect.arrayContaining(ids));
          if (message.role === "tool")
            expect(messages.slice(0, at).flatMap(callIds)).toContain(message.tool_call_id);
        }
        const all = messages.flatMap(callIds);
        expect(new Set(all).size).toBe(all.length);
      }),
      { numRuns: 300 },
    );
  });
});

function textsIn({ content }: JsonObject): string[] {
  if (typeof content === "string") return [content];
  return Array.isArray(content)
    ? (content as JsonObject[]).flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    : [];
}

function callIds(message: JsonObject): unknown[] {
  return ((message.tool_calls as JsonObject[] | undefined) ?? []).map(({ id }) => id);
}

/** Ids of the tool messages behind a message and the assistant messages directly behind it. */
function answersBehind(messages: readonly JsonObject[], at: number): unknown[] {
  let next = at + 1;
  while (messages[next]?.role === "assistant") next++;
  const answers: unknown[] = [];
  for (; messages[next]?.role === "tool"; next++) answers.push(messages[next]!.tool_call_id);
  return answers;
}
