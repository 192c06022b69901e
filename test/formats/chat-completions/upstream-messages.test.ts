import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Block, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { failure } from "./make.ts";
import { say, user, assistant, system, call, result, image, turnsTo } from "./turns.ts";

const imagePart = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const pdf: Block = {
  type: "document",
  source: { type: "base64", mediaType: "application/pdf", data: "AAAA" },
};

const sent = (...turns: Turn[]) => turnsTo(turns).messages;

describe("system text", () => {
  test("blocks are joined; a mid-conversation turn stays where it is", () => {
    expect(sent(system("A", "B"), user("hi"), system("C"), assistant("ok"))).toEqual([
      { role: "system", content: "A\n\nB" },
      { role: "user", content: "hi" },
      { role: "system", content: "C" },
      { role: "assistant", content: "ok" },
    ]);
  });

  test("the billing header is left out; nothing is left means no message", () => {
    const header: Block = {
      type: "text",
      text: "x-anthropic-billing-header: cc_version=2",
      onlyFor: "messages",
    };
    expect(sent(system(header, "A"), user("hi"))[0]).toEqual({ role: "system", content: "A" });
    expect(sent(system(header), user("hi"))).toEqual([{ role: "user", content: "hi" }]);
  });

  test("where only the first place is allowed, later ones become user text and nothing is lost", () => {
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

  test("between a call and its result, system text comes behind the result", () => {
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

  test("a file id of another vendor is refused by its place", async () => {
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

  test("blocks of another format: their text where they have one, else a refusal", () => {
    const known: Block = { type: "foreign", format: "messages", value: {}, text: "[web search: T - u]" };
    const unknown: Block = { type: "foreign", format: "messages", value: { type: "input_json_delta" } };
    const own: Block = { type: "foreign", format: "chat-completions", value: { type: "hologram" } };
    const { messages, losses } = turnsTo([user("q", known), user(own)]);
    expect(messages[0]!.content).toBe("q\n\n[web search: T - u]");
    expect(messages[1]!.content).toEqual([{ type: "hologram" }]);
    expect(losses).toEqual(["converted:messages[0].content[1]"]);
    expect(() => turnsTo([user("q", known, unknown)])).toThrow(
      "messages[0].content[2]: weir cannot translate content of type input_json_delta",
    );
  });

  test("blank text is never sent, and a turn without text is no message", () => {
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
  test("results, then the user, and no message invented in between", () => {
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

  test("images of two parallel results follow the last tool message, in order", () => {
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

  test("where tool messages take images they stay inside", () => {
    const { messages } = turnsTo([user("go"), assistant(call("a")), user(result("a", "text", image))], {
      imageInToolMessage: true,
    });
    expect(messages.slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "text" }, imagePart] },
    ]);
  });

  test("a result nobody asked for becomes user text, a call without a result gets one", () => {
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
    expect(losses).toEqual(["repaired:messages[2].content[1]"]);
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

  test("ids that do not fit, or repeat, stay paired; Mistral gets nine characters", () => {
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
