/** `weir models NAME` names the lane that calls take, also where the hooks of a plugin edit them. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-models-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function explained(hooks: string) {
  mkdirSync(join(folder, "plugins"), { recursive: true });
  const text = `import { definePlugin } from "weir";\nexport default definePlugin({ name: "redact", hooks: ${hooks} });\n`;
  writeFileSync(join(folder, "plugins", "redact.ts"), text);
  const { out } = await runCommand(["models", "gpt-5.4", "--json"], {
    cwd: folder,
    env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" },
  });
  const { served, plan } = JSON.parse(out) as {
    served: { client: string; lane: string; reason: string }[];
    plan: { lane: string }[];
  };
  const { lane, reason } = served.find(({ client }) => client === "chat-completions")!;
  return { lane, plan: plan[0]!.lane, reason };
}

test.each(["request: () => {}", "answer: (events) => events"])(
  "a plugin with the hook %s translates",
  async (hook) => {
    const { reason, ...lanes } = await explained(`{ ${hook} }`);
    expect(lanes).toEqual({ lane: "translated", plan: "translated" });
    expect(reason).toEndWith("; translated for the hooks of redact");
  },
);

test("hooks that only watch leave the lane", async () => {
  const { reason, ...lanes } = await explained("{ observe: () => {}, done: () => {}, admit: () => {} }");
  expect(lanes).toEqual({ lane: "native", plan: "native" });
  expect(reason).not.toContain("hooks");
});
