/** Errors of providers that refuse the reasoning of earlier turns: weir repeats such a request without it. */
import { expect, test } from "bun:test";
import { client as chat, upstream as chatUpstream } from "../chat-completions/make.ts";
import { client as messages, upstream as messagesUpstream } from "../messages/make.ts";

const REFUSED = [
  "messages.1.content.0: Invalid `signature` in `thinking` block",
  "Unable to submit request: thought signature is not valid",
  "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.",
  "`thinking` blocks in the latest assistant message cannot be modified.",
  "thinking: the preceding transcript does not match",
  "The encrypted content for item rs_1 could not be verified.",
];
const OTHERS = [
  "thinking: Input should be a valid object",
  "Invalid signature",
  "max_tokens: Field required",
];

const decode = (upstream: typeof chatUpstream, status: number, message: string) =>
  upstream.codec.decodeError(
    status,
    new Headers(),
    JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }),
  );

test.each(REFUSED)("%s", (message) => {
  for (const upstream of [chatUpstream, messagesUpstream]) {
    expect(decode(upstream, 400, message).refused).toBe("reasoning");
    expect(decode(upstream, 400, message).with({ shouldRetry: false }).refused).toBe("reasoning");
    expect(decode(upstream, 422, message).refused).toBeUndefined();
    expect(decode(upstream, 500, message).refused).toBeUndefined();
  }
});

test.each(OTHERS)("a refusal for another reason is not taken for one of reasoning: %s", (message) => {
  for (const upstream of [chatUpstream, messagesUpstream])
    expect(decode(upstream, 400, message).refused).toBeUndefined();
});

test("clients do not see what was refused", () => {
  const error = decode(messagesUpstream, 400, REFUSED[0]!);
  for (const client of [chat, messages]) {
    const { body, headers } = client.codec.encodeError(error, "req_1");
    expect(JSON.stringify([body, headers])).not.toContain("refused");
    expect(JSON.stringify(body)).not.toContain("reasoning");
  }
});
