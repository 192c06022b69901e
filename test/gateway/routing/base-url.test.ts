/** Base URLs with and without the version of the API, as operators copy them from the vendors' documents. */
import { expect, test } from "bun:test";
import type { Provider } from "../../../src/core/provider.ts";
import { fittedBaseUrl } from "../../../src/gateway/routing/base-url.ts";
import anthropic from "../../../plugins/anthropic.ts";
import cohere from "../../../plugins/cohere.ts";
import deepseek from "../../../plugins/deepseek.ts";
import gemini from "../../../plugins/gemini.ts";
import groq from "../../../plugins/groq.ts";
import ollama from "../../../plugins/ollama.ts";
import openai from "../../../plugins/openai.ts";

const providers: Record<string, Provider> = Object.fromEntries(
  [anthropic, cohere, deepseek, gemini, groq, ollama, openai].map((plugin) => [
    plugin.name,
    plugin.providers![0]!,
  ]),
);

test.each([
  ["anthropic", "https://api.anthropic.com", "https://api.anthropic.com"],
  ["anthropic", "https://api.anthropic.com/v1", "https://api.anthropic.com"],
  ["anthropic", "https://proxy.example/anthropic/v1", "https://proxy.example/anthropic"],
  ["gemini", "https://generativelanguage.googleapis.com/v1beta", "https://generativelanguage.googleapis.com"],
  ["gemini", "https://generativelanguage.googleapis.com/v1", "https://generativelanguage.googleapis.com"],
  ["gemini", "http://127.0.0.1:8080/google", "http://127.0.0.1:8080/google"],
  ["openai", "https://api.openai.com", "https://api.openai.com/v1"],
  ["openai", "https://api.openai.com/v1", "https://api.openai.com/v1"],
  ["openai", "https://proxy.example", "https://proxy.example"],
  ["openai", "https://proxy.example/v1", "https://proxy.example/v1"],
  ["groq", "https://api.groq.com", "https://api.groq.com/openai/v1"],
  ["groq", "https://api.groq.com/openai", "https://api.groq.com/openai/v1"],
  ["cohere", "https://api.cohere.ai/compatibility/v1", "https://api.cohere.ai"],
  ["cohere", "https://api.cohere.com/v2", "https://api.cohere.com"],
  ["deepseek", "https://api.deepseek.com/beta", "https://api.deepseek.com/beta"],
])("%s at %s", (name, given, fitted) => {
  const provider = providers[name]!;
  const own = typeof provider.baseUrl === "string" ? provider.baseUrl : undefined;
  expect(fittedBaseUrl(given, own, provider)).toBe(fitted);
});

test("a host of the config gets its paths once, and keeps a path that is its own", () => {
  const host: Provider = { name: "host", speaks: { messages: "/v1/messages" } };
  expect(fittedBaseUrl("http://127.0.0.1:8000/v1", undefined, host)).toBe("http://127.0.0.1:8000");
  expect(fittedBaseUrl("http://127.0.0.1:8000/team-v1", undefined, host)).toBe(
    "http://127.0.0.1:8000/team-v1",
  );
  const chat: Provider = { name: "host", speaks: { "chat-completions": "/chat/completions" } };
  expect(fittedBaseUrl("http://127.0.0.1:8000/v1", undefined, chat)).toBe("http://127.0.0.1:8000/v1");
});
