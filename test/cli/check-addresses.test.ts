/** `weir check` names the mistake in an address that was copied from a vendor's pages. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-addresses-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PASTED: [address: string, says: string][] = [
  [
    "https://r.openai.azure.com/openai/deployments/gpt-4o/chat/completions",
    "write https://r.openai.azure.com ",
  ],
  [
    "https://r.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
    "set OPENAI_API_VERSION and name the model azure-dated/DEPLOYMENT",
  ],
  ["https://r.openai.azure.com/openai/v1/chat/completions", "write https://r.openai.azure.com"],
  ["https://ai.azure.com/resource/overview", "is that of a portal"],
  [
    "https://r.cognitiveservices.azure.com/openai/responses?api-version=2025-04-01-preview",
    "write https://r.cognitiveservices.azure.com;",
  ],
];

for (const [address, says] of PASTED)
  test(`weir check names the mistake in ${address}`, async () => {
    const env = { AZURE_OPENAI_API_KEY: "k-0123456789abcdef", AZURE_OPENAI_ENDPOINT: address };
    const { code, err } = await runCommand(["check", "--offline"], { cwd: folder, env });
    expect(code).not.toBe(0);
    expect(err).toContain("AZURE_OPENAI_ENDPOINT: the address of azure ");
    expect(err).toContain(says);
  });
