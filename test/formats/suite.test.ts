/** Every built-in format runs through the suite of formats. */
import { builtInFormats } from "../../src/run/formats.ts";
import type { ContextOptions } from "../helpers/codec-context.ts";
import { describeFormat, samplesOf } from "../helpers/describe-format.ts";

/** A provider of each format: its own vendor. */
const VENDORS: Record<string, ContextOptions> = {
  "chat-completions": { provider: "openai", model: "gpt-5.4", traits: { files: true } },
  converse: { provider: "bedrock", model: "us.anthropic.claude-haiku-4-5-20251001-v1:0" },
  gemini: { provider: "gemini", model: "gemini-3-flash-preview" },
  messages: { provider: "anthropic", model: "claude-opus-4-6", traits: { files: true, topK: true } },
};

for (const format of builtInFormats({ systemTurns: "accept" }))
  describeFormat(format, samplesOf(format.id), { ...VENDORS[format.id], isVendor: true });
