/** A correct client of messages: it streams, repeats by the SDK's rules, has time limits and reports failures. */
import Anthropic from "@anthropic-ai/sdk";
import { fail, within } from "./limits.ts";

const client = new Anthropic({ maxRetries: 3, timeout: 8_000 });

try {
  const stream = await client.messages.create({
    model: "claude-opus-5-5",
    max_tokens: 1_000,
    messages: [{ role: "user", content: "Name the letters." }],
    stream: true,
  });
  let stop: string | null = null;
  let length = 0;
  for await (const event of within(stream, 3_000)) {
    if (event.type === "message_delta") stop = event.delta.stop_reason;
    if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") continue;
    length += event.delta.text.length;
    process.stdout.write(event.delta.text);
  }
  process.stdout.write("\n");
  if (stop === null) fail("the answer ended without a stop reason");
  if (stop !== "end_turn") fail(`the answer is incomplete: ${stop}`);
  if (length === 0) fail("the answer is empty");
} catch (cause) {
  fail(String(cause));
}
