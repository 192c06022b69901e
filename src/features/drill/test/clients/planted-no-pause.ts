/** The bug: it repeats a failed request at once, again and again. */
import { fail } from "./limits.ts";

async function ask(): Promise<Response> {
  return fetch(`${process.env["OPENAI_BASE_URL"]}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-5.4", messages: [{ role: "user", content: "Name the letters." }] }),
  });
}

let response = await ask();
while (response.status === 429) response = await ask();
if (!response.ok) fail(`the provider answers with status ${response.status}`);
const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
process.stdout.write(`${choices[0]?.message.content}\n`);
