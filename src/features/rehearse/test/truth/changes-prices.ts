/** Changes of prices. */
import { type SetupChange, setting } from "./change.ts";

const price = (name: string, value: unknown) => setting("price", ["prices", name], value);

export const PRICE_CHANGES: readonly SetupChange[] = [
  price("acme/large", { input: 3, output: 8, cacheRead: 0.5 }),
  price("acme/large", { input: 2, output: 8, cacheRead: 0.25 }),
  price("acme/large", { input: 2, output: 8 }),
  price("acme/large", 0),
  price("acme/large", undefined),
  price("acme/small", { input: 0.25, output: 1, request: 0.001 }),
  price("acme/*", { input: 1, output: 1 }),
  price("acme/thinker", { input: 1, output: 4, reasoning: 8 }),
  price("groq/*", { discount: 0.2 }),
  price("groq/*", undefined),
  price("groq/llama-3.3-70b-versatile", { input: 0.5, output: 0.7 }),
  price("openai/gpt-5.2", { input: 1, output: 9, cacheRead: 0.1 }),
  price("openai/*", { discount: 0.05 }),
  price("anthropic/*", { discount: 0.12 }),
  price("claude-sonnet-4-5", { input: 2, output: 10 }),
  price("gemini-2.5-flash", { input: 0.2, output: 2, cacheRead: 0.02 }),
  price("bedrock/*", { discount: 0.3 }),
  price("azure/*", { discount: 0.12 }),
  price("mistral/mistral-large-latest", 0),
  price("text-embedding-3-small", { input: 0.05, output: 0 }),
  price("ollama/*", { input: 0.01, output: 0.01 }),
  price("no-such-model", { input: 1, output: 1 }),
  price("vllm/*", { input: 0.1, output: 0.2, cacheWrite: 9 }),
  price("openrouter/*", { input: 1, output: 3 }),
];
