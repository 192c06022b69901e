import { describe, expect, test } from "bun:test";
import { checkEvents, textOf } from "../../helpers/describe-events.ts";
import { askAll, assistant, attemptFor, endOf, request, user } from "./ask.ts";

describe("the mock's answers", () => {
  test("say who speaks and what was said", async () => {
    const events = await askAll(request("chat", "How high is the weir at Hampton?"));
    checkEvents(events);
    expect(textOf(events)).toContain("weir's mock");
    expect(textOf(events)).toContain('"How high is the weir at Hampton?"');
    expect(endOf(events).reason).toEqual({ kind: "stop" });
  });

  test("come in many pieces, one token each", async () => {
    const events = await askAll(request("chat", "Hello"));
    const pieces = events.filter((event) => event.type === "block-delta");
    expect(pieces.length).toBeGreaterThan(10);
    expect(endOf(events).usage.output).toBe(pieces.length);
  });

  test("are the same for the same request, streamed or not", async () => {
    const first = await askAll(request("chat", "Hello"));
    expect(await askAll(request("chat", "Hello"))).toEqual(first);
    expect(await askAll(request("chat", "Hello", { stream: false }))).toEqual(first);
  });

  test("have an id of their own for every request", async () => {
    const ids = new Set<string>();
    for (const text of ["a", "b", "c"]) {
      const [start] = await askAll(request("chat", text));
      if (start?.type === "message-start") ids.add(start.id);
    }
    expect(ids.size).toBe(3);
  });

  test("carry the client's model name, and follow the resolved one", async () => {
    const asked = { ...request("chat", "Hello"), model: "gpt-4o" };
    const events = await askAll(asked, attemptFor("echo"));
    expect(events[0]).toMatchObject({ type: "message-start", model: "gpt-4o" });
    expect(textOf(events)).toBe("Hello");
  });

  test("come from the plain name `mock` too", async () => {
    expect(textOf(await askAll(request("chat", "Hello"), attemptFor("mock")))).toContain("weir's mock");
  });

  test("mention what is no text", async () => {
    const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } } as const;
    const events = await askAll(request("chat", [user("Look", image, image)]));
    expect(textOf(events)).toContain("2 images");
  });

  test("need no text to answer", async () => {
    const events = await askAll(request("chat", []));
    checkEvents(events);
    expect(textOf(events)).toContain("no text");
  });
});

describe("mock/echo", () => {
  const texts = {
    plain: "Say this back.",
    "white space at both ends": "  two lines\n\n\tand a tab  \n",
    "characters beyond the basic plane": "👩‍👩‍👧‍👧 héllo, 世界 🏞️",
    "half a surrogate pair": "a\ud83dz",
  };
  for (const [name, text] of Object.entries(texts))
    test(`gives back ${name}`, async () => {
      const events = await askAll(request("echo", text));
      checkEvents(events);
      expect(textOf(events)).toBe(text);
    });

  test("takes the last user turn and all its texts", async () => {
    const turns = [user("first"), assistant("answer"), user("one", "two")];
    expect(textOf(await askAll(request("echo", turns)))).toBe("one\ntwo");
  });

  test("answers with no block when nothing was said", async () => {
    const events = await askAll(request("echo", []));
    checkEvents(events);
    expect(events).toHaveLength(2);
  });
});

describe("limits", () => {
  test("maxTokens cuts exactly", async () => {
    const whole = textOf(await askAll(request("echo", "one two three four")));
    const events = await askAll(request("echo", "one two three four", { maxTokens: 3 }));
    checkEvents(events);
    expect(endOf(events)).toMatchObject({ reason: { kind: "length" }, usage: { output: 3 } });
    expect(textOf(events)).toBe("one two thre");
    expect(whole).toStartWith(textOf(events));
  });

  test("an answer that just fits is not cut", async () => {
    const events = await askAll(request("echo", "one two", { maxTokens: 2 }));
    expect(endOf(events).reason).toEqual({ kind: "stop" });
  });

  test("a stop sequence ends the answer in front of itself; the first in the text wins", async () => {
    const events = await askAll(request("echo", "one END two STOP three", { stop: ["STOP", "END"] }));
    checkEvents(events);
    expect(textOf(events)).toBe("one ");
    expect(endOf(events).reason).toEqual({ kind: "stop-sequence", stopSequence: "END" });
  });

  test("a stop sequence beyond the limit is not reached", async () => {
    const events = await askAll(request("echo", "one two END", { stop: ["END"], maxTokens: 1 }));
    expect(endOf(events).reason).toEqual({ kind: "length" });
  });

  test("an answer that begins with a stop sequence is empty", async () => {
    const events = await askAll(request("echo", "END", { stop: ["END"] }));
    checkEvents(events);
    expect(textOf(events)).toBe("");
    expect(endOf(events).reason.kind).toBe("stop-sequence");
  });

  test("no answer is longer than 128,000 tokens", async () => {
    const events = await askAll(request("echo", "word ".repeat(130_000)));
    expect(endOf(events)).toMatchObject({ reason: { kind: "length" }, usage: { output: 128_000 } });
  });
});

describe("reasoning", () => {
  test("comes first, is signed, and is counted", async () => {
    const events = await askAll(request("reason", "Why?"));
    checkEvents(events);
    expect(events[1]).toMatchObject({ type: "block-start", block: { type: "reasoning", origin: "mock" } });
    const end = events.find((event) => event.type === "block-end");
    expect(end?.signature).toMatch(/^[A-Za-z0-9+/]{128}$/);
    const { usage } = endOf(events);
    expect(usage.reasoning).toBeGreaterThan(5);
    expect(usage.reasoning).toBeLessThan(usage.output);
    expect(textOf(events, "reasoning")).toContain("Why?");
    expect(textOf(events)).toContain("weir's mock");
  });

  test("is wished for, grows with the effort, and keeps to its budget", async () => {
    const count = async (reasoning: object) =>
      endOf(await askAll(request("chat", "Why?", { reasoning }))).usage.reasoning;
    expect(await count({ effort: "high" })).toBeGreaterThan(await count({ effort: "low" }));
    expect(await count({ mode: "budget", budget: 7 })).toBe(7);
    expect(await count({ mode: "off" })).toBe(0);
    expect(await count({ effort: "none" })).toBe(0);
  });

  test("is not done against the client's wish", async () => {
    const events = await askAll(request("reason", "Why?", { reasoning: { mode: "off" } }));
    expect(textOf(events, "reasoning")).toBe("");
  });

  test("that is cut by the limit has no signature and no answer behind it", async () => {
    const events = await askAll(request("reason", "Why?", { maxTokens: 4 }));
    checkEvents(events);
    expect(events.find((event) => event.type === "block-end")?.signature).toBeUndefined();
    expect(endOf(events)).toMatchObject({ reason: { kind: "length" }, usage: { output: 4, reasoning: 4 } });
    expect(textOf(events)).toBe("");
  });
});

describe("mock/long and mock/empty", () => {
  test("long-<tokens> is exactly that long", async () => {
    const events = await askAll(request("long-1000", "Go"));
    checkEvents(events);
    expect(endOf(events)).toMatchObject({ reason: { kind: "stop" }, usage: { output: 1000 } });
  });

  test("empty starts and ends", async () => {
    const events = await askAll(request("empty", "Go"));
    checkEvents(events);
    expect(events.map((event) => event.type)).toEqual(["message-start", "message-end"]);
  });
});

describe("mock/recall", () => {
  test("answers with the conversation that it was sent, one line for each block", async () => {
    const turns = [
      { role: "system" as const, blocks: [{ type: "text" as const, text: "Be short." }] },
      user("What time is it?"),
      assistant(
        { type: "reasoning", text: "I look.", signature: "c2ln" },
        { type: "tool-call", id: "call_1", name: "get_time", input: "{}", kind: "function" },
      ),
      user({ type: "tool-result", id: "call_1", blocks: [{ type: "text", text: "noon" }] }, "And now?"),
    ];
    const events = await askAll(request("recall", turns));
    checkEvents(events);
    expect(textOf(events).split("\n")).toEqual([
      "system: Be short.",
      "user: What time is it?",
      "assistant reasoned, signed: I look.",
      "assistant called get_time: {}",
      "user sent the result of get_time: noon",
      "user: And now?",
    ]);
  });
});
