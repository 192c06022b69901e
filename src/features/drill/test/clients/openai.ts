/** A correct client of chat-completions: it streams, repeats by the SDK's rules, has time limits and reports failures. */
import OpenAI from "openai";
import { fail, within } from "./limits.ts";

const client = new OpenAI({ maxRetries: 3, timeout: 8_000 });

try {
  const stream = await client.chat.completions.create({
    model: "gpt-5.4",
    messages: [{ role: "user", content: "Name the letters." }],
    stream: true,
  });
  let finish: string | null = null;
  let length = 0;
  for await (const chunk of within(stream, 3_000)) {
    const [choice] = chunk.choices;
    finish = choice?.finish_reason ?? finish;
    length += choice?.delta.content?.length ?? 0;
    process.stdout.write(choice?.delta.content ?? "");
  }
  process.stdout.write("\n");
  if (finish === null) fail("the answer ended without a finish reason");
  if (finish !== "stop") fail(`the answer is incomplete: ${finish}`);
  if (length === 0) fail("the answer is empty");
} catch (cause) {
  fail(String(cause));
}
