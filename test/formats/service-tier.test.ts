/** Tiers of service cost half or twice as much: each is carried to a provider that has it, and told where it is lost. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { CLIENT_FORMATS, foresee } from "../helpers/foresee.ts";

const chat = { messages: [{ role: "user", content: "u" }] };
const gemini = { contents: [{ role: "user", parts: [{ text: "u" }] }] };
const OPENAI_CHAT = "chatting/gpt-5.4";
const OPENAI_RESPONSES = "answering/gpt-5.4";
const GEMINI = "gemini/gemini-3.5-flash";
const LLAMA = "groq/llama-3.3-70b-versatile";

/** The tier that arrives, or the loss. */
const CASES: readonly [client: string, asked: JsonObject, model: string, tier: string][] = [
  ["chat-completions", { ...chat, service_tier: "flex" }, OPENAI_RESPONSES, "flex"],
  ["chat-completions", { ...chat, service_tier: "priority" }, OPENAI_RESPONSES, "priority"],
  ["chat-completions", { ...chat, service_tier: "default" }, OPENAI_RESPONSES, "default"],
  ["chat-completions", { ...chat, service_tier: "auto" }, OPENAI_RESPONSES, "none"],
  ["chat-completions", { ...chat, service_tier: "scale" }, OPENAI_RESPONSES, "dropped service_tier"],
  ["chat-completions", { ...chat, service_tier: "flex" }, GEMINI, "flex"],
  ["chat-completions", { ...chat, service_tier: "scale" }, GEMINI, "dropped service_tier"],
  ["responses", { input: "u", service_tier: "flex" }, OPENAI_CHAT, "flex"],
  ["responses", { input: "u", service_tier: "priority" }, OPENAI_CHAT, "priority"],
  ["responses", { input: "u", service_tier: "flex" }, LLAMA, "dropped service_tier"],
  ["responses", { input: "u", service_tier: "flex" }, "tiered/some-model", "flex"],
  ["gemini", { ...gemini, serviceTier: "FLEX" }, OPENAI_CHAT, "flex"],
  ["gemini", { ...gemini, serviceTier: "priority" }, OPENAI_RESPONSES, "priority"],
  ["gemini", { ...gemini, serviceTier: "priority" }, LLAMA, "dropped serviceTier"],
  ["messages", { ...chat, max_tokens: 9, service_tier: "standard_only" }, OPENAI_CHAT, "default"],
];

test.each(CASES)("%s %j to %s: %s", async (client, asked, model, tier) => {
  const foreseen = await foresee(CLIENT_FORMATS[client]!, { model, ...asked });
  if ("refused" in foreseen) throw new Error(foreseen.refused);
  const { sent, losses } = foreseen;
  const told = losses.map(({ code, path }) => `${code} ${path}`).join(", ");
  expect(told || (sent.service_tier ?? sent.serviceTier ?? "none")).toBe(tier);
});
