/** The bug: it repeats a request whose key was refused, without end. */
import Anthropic from "@anthropic-ai/sdk";
import { fail } from "./limits.ts";

const client = new Anthropic({ maxRetries: 0, timeout: 5_000 });

for (;;) {
  try {
    const message = await client.messages.create({
      model: "claude-opus-5-5",
      max_tokens: 1_000,
      messages: [{ role: "user", content: "Name the letters." }],
    });
    for (const block of message.content) if (block.type === "text") process.stdout.write(`${block.text}\n`);
    break;
  } catch (cause) {
    if (!(cause instanceof Anthropic.APIError) || cause.status !== 401) fail(String(cause));
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
