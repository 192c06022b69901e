/** The bug: it waits for an answer without a time limit. */
import OpenAI from "openai";
import { fail } from "./limits.ts";

const client = new OpenAI({ timeout: 3_600_000 });

try {
  const stream = await client.responses.create({
    model: "gpt-5.4",
    input: "Name the letters.",
    stream: true,
  });
  let isComplete = false;
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
    isComplete ||= event.type === "response.completed";
  }
  if (!isComplete) fail("the answer is incomplete");
} catch (cause) {
  fail(String(cause));
}
