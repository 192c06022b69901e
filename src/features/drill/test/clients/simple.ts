/** A small client of chat-completions without an SDK, which starts fast. `MODE` plants a behaviour. */
import { fail } from "./limits.ts";

const mode = process.env["MODE"];
if (mode === "broken") fail("this client never works");
if (mode === "idle") process.exit(0);
if (mode === "child") {
  // A process that outlives its parent, and keeps its output open.
  const child = Bun.spawn(["sleep", "300"], { stdio: ["ignore", "inherit", "inherit"] });
  await Bun.write(process.env["PIDS"] ?? "", `${child.pid}`);
}
await Bun.write("visited.txt", "");

const response = await fetch(`${process.env["OPENAI_BASE_URL"]}/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "any", messages: [{ role: "user", content: "Name the letters." }] }),
});
if (!response.ok) fail(`status ${response.status}: <${await response.text()}>`);
const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
process.stdout.write(`${choices[0]?.message.content}\n`);
process.exit(0);
