import { describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { wrap } from "../../../src/core/provenance.ts";
import { lossesOf } from "../../helpers/codec-context.ts";
import { requestContext, upstream } from "./make.ts";

const sealed = wrap("house", "opaque");
const assistant = (content: Json): JsonObject => ({ role: "assistant", content });

function cleaned(messages: Json[]): { messages: Json; losses: string[] } {
  const context = requestContext();
  const body = upstream.native.withoutSealed!({ model: "m", messages, max_tokens: 1 }, context);
  expect(Object.keys(body)).toEqual(["model", "messages", "max_tokens"]);
  return { messages: body.messages!, losses: lossesOf(context) };
}

describe("reasoning sealed for another vendor", () => {
  const text = { type: "text", text: '"weir1.house.x" is a word', cache_control: { type: "ephemeral" } };

  test("is taken out, and nothing else is touched", () => {
    const own = { type: "thinking", thinking: "t", signature: "U0lH" };
    const call = { type: "tool_use", id: "a", name: "f", input: { signature: sealed } };
    const content = [
      { type: "thinking", thinking: "t", signature: sealed },
      own,
      { type: "redacted_thinking", data: sealed },
      text,
      call,
    ];
    expect(cleaned([{ role: "user", content: sealed }, assistant(content)])).toEqual({
      messages: [{ role: "user", content: sealed }, assistant([own, text, call])],
      losses: ["dropped:messages[1].content[0]", "dropped:messages[1].content[2]"],
    });
  });

  test("a message that was nothing else goes with it", () => {
    const user = { role: "user", content: [text] };
    const alone = assistant([{ type: "thinking", thinking: "", signature: sealed }]);
    expect(cleaned([user, alone, user])).toEqual({
      messages: [user, user],
      losses: ["dropped:messages[1].content[0]"],
    });
  });
});
