/** The bug: it takes the end of the body for the end of the answer. */
import { fail } from "./limits.ts";

const response = await fetch(`${process.env["ANTHROPIC_BASE_URL"]}/v1/messages`, {
  method: "POST",
  headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
  body: JSON.stringify({
    model: "claude-opus-5-5",
    max_tokens: 1_000,
    messages: [{ role: "user", content: "Name the letters." }],
    stream: true,
  }),
});
if (!response.ok) fail(`the provider answers with status ${response.status}`);

let text = "";
const decoder = new TextDecoder();
try {
  for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
} catch {
  // The connection broke: what arrived is taken for the answer.
}
for (const [, data] of text.matchAll(/^data: (.*)$/gm)) {
  const { delta } = JSON.parse(data!) as { delta?: { text?: string } };
  process.stdout.write(delta?.text ?? "");
}
