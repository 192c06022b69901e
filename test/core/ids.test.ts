import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  AnswerIds,
  type IdRule,
  legacyCallId,
  maskUser,
  sha256,
  ToolIds,
  ToolNames,
} from "../../src/core/ids.ts";
import { MISTRAL_IDS, TOOL_IDS as CHAT_IDS } from "../../src/formats/chat-completions/upstream/messages.ts";
import { TOOL_IDS as MESSAGES_IDS } from "../../src/formats/messages/upstream/tool-results.ts";
import { withinBudget } from "../helpers/within-budget.ts";

/** Ids of calls in turns, each call answered, as an upstream of this dialect reads them. */
function sent(turns: readonly string[][], rule: IdRule = CHAT_IDS) {
  const ids = new ToolIds(rule);
  return turns.map((turn) => {
    ids.beginTurn();
    const calls = turn.map((id) => ids.call(id));
    const results = turn.map((id) => ids.result(id));
    return { calls, results };
  });
}

describe("tool-call ids", () => {
  test("a legal id is kept", () => {
    expect(sent([["call_1", "toolu_01A-b"]])[0]!.calls).toEqual(["call_1", "toolu_01A-b"]);
  });

  test("two ids of 90 characters with the same beginning stay two", () => {
    const start = "x".repeat(80);
    const [first, second] = sent([[`${start}1`, `${start}2`]])[0]!.calls;
    expect(first).not.toBe(second);
    for (const id of [first!, second!]) expect(id).toMatch(CHAT_IDS.legal);
  });

  test("the same history gives the same ids, with nothing remembered in between", () => {
    const history = [["call:1/ä", "b".repeat(90)], ["call:1/ä"]];
    expect(sent(history)).toEqual(sent(history));
  });

  test("illegal characters are replaced, and call and result change alike", () => {
    for (const { calls, results } of sent([["functions.Bash:0", "call:1/ä", "with space"]])) {
      expect(results).toEqual(calls);
      for (const id of calls) expect(id).toMatch(MESSAGES_IDS.legal);
    }
  });

  test("no two ids become one: a.b and a_b, call_1 and fc_1, an id that looks like another's hash", () => {
    const hashed = sent([["a.b"]])[0]!.calls[0]!;
    const ids = ["a.b", "a_b", "ab", "call_1", "fc_1", hashed];
    expect(new Set(sent([ids])[0]!.calls).size).toBe(ids.length);
  });

  test("an id repeated in every turn pairs each result with the call of its own turn", () => {
    const turns = sent([["call_0"], ["call_0"], ["call_0"]]);
    expect(turns.map(({ calls }) => calls[0])).toEqual(["call_0", "call_0_2", "call_0_3"]);
    for (const { calls, results } of turns) expect(results).toEqual(calls);
  });

  test("two calls of one id in one turn are answered in order", () => {
    const [{ calls, results }] = sent([["x", "x"]]) as [{ calls: string[]; results: string[] }];
    expect(results).toEqual(calls);
    expect(new Set(calls).size).toBe(2);
  });

  test("a result nobody asked for, or asked for in an earlier turn, has no id", () => {
    const ids = new ToolIds(CHAT_IDS);
    ids.beginTurn();
    ids.call("a");
    expect(ids.result("b")).toBeUndefined();
    ids.beginTurn();
    expect(ids.result("a")).toBeUndefined();
  });

  test("Mistral gets nine letters or digits", () => {
    for (const id of sent([["call_1", "abcdefghi", "a.b", "toolu_01"]], MISTRAL_IDS)[0]!.calls)
      expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(sent([["abcdefghi"]], MISTRAL_IDS)[0]!.calls).toEqual(["abcdefghi"]);
  });

  test("a turn that is added changes nothing that came out before", () => {
    const anyId = fc.oneof(
      fc.constantFrom("call_0", "a.b", "a_b", "x".repeat(70)),
      fc.string({ minLength: 1, maxLength: 90 }),
    );
    const turns = fc.array(fc.array(anyId, { maxLength: 4 }), { minLength: 1, maxLength: 6 });
    withinBudget(
      fc.property(turns, fc.constantFrom(CHAT_IDS, MISTRAL_IDS, MESSAGES_IDS), (history, rule) => {
        const whole = sent(history, rule);
        expect(whole.slice(0, -1)).toEqual(sent(history.slice(0, -1), rule));
        const all = whole.flatMap(({ calls }) => calls);
        expect(new Set(all).size).toBe(all.length);
        for (const id of all) expect(id).toMatch(rule.legal);
        for (const { calls, results } of whole) expect([...results].sort()).toEqual([...calls].sort());
      }),
    );
  });
});

describe("tool names", () => {
  const names = (list: string[]) => {
    const originals = new Map<string, string>();
    const map = new ToolNames(list, originals);
    return { sent: list.map((name) => map.send(name)), originals };
  };

  test("a name over 64 characters comes back as it was", () => {
    const long = `mcp__server__${"tool".repeat(20)}`;
    const { sent, originals } = names([long]);
    expect(sent[0]).toMatch(/^[a-zA-Z0-9_-]{64}$/);
    expect(originals.get(sent[0]!)).toBe(long);
  });

  test("a legal name keeps itself even when another would be renamed to it", () => {
    const { sent, originals } = names(["get.weather", "get_weather"]);
    expect(sent[1]).toBe("get_weather");
    expect(sent[0]).not.toBe("get_weather");
    expect(originals.get(sent[0]!)).toBe("get.weather");
  });

  test("any names are legal, apart and reversible", () => {
    withinBudget(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 100 }), { maxLength: 12 }), (list) => {
        const { sent, originals } = names(list);
        expect(new Set(sent).size).toBe(list.length);
        for (const [index, name] of sent.entries()) {
          expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(originals.get(name) ?? name).toBe(list[index]!);
        }
      }),
    );
  });
});

describe("ids of an answer", () => {
  test("a legal id is kept once; missing, illegal and repeated ones are minted, unique over calls", () => {
    const ids = new AnswerIds("req_1");
    expect(ids.take("call_abc")).toBe("call_abc");
    const minted = [
      ids.take("call_abc"),
      ids.take(undefined),
      ids.take(""),
      ids.take("functions.x:0"),
      ids.take("y".repeat(65)),
    ];
    for (const id of minted) expect(id).toMatch(/^call_[0-9A-Za-z]{24}$/);
    expect(new Set(minted).size).toBe(minted.length);
    expect(minted).not.toContain(new AnswerIds("req_2").take(undefined));
  });
});

test("a legacy call's id comes from its place and name", () => {
  expect(legacyCallId(3, "f")).toBe(legacyCallId(3, "f"));
  expect(new Set([legacyCallId(3, "f"), legacyCallId(4, "f"), legacyCallId(3, "g")]).size).toBe(3);
  expect(legacyCallId(3, "f")).toMatch(/^call_[0-9a-f]{24}$/);
});

test("a user's id that says more than a name is hashed, the same every time", () => {
  const claudeCode = JSON.stringify({ device_id: "d".repeat(64), account_uuid: "a", session_id: "s" });
  expect(maskUser(claudeCode)).toBe(sha256(claudeCode));
  expect(maskUser("someone@example.com")).toMatch(/^[0-9a-f]{64}$/);
  expect(maskUser("user-1")).toBe("user-1");
});
