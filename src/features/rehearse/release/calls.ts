/** The calls by which two builds are compared: each request to its own model and to others. */
import type { Outline } from "../outline/outline.ts";

/** Models to which requests go besides their own: all formats of providers are among them. */
export const MODELS =
  `openai/gpt-5.2 openai/gpt-4.1-mini openai/o4-mini anthropic/claude-sonnet-4-5 anthropic/claude-opus-4-6
gemini/gemini-2.5-flash gemini/gemini-3-flash-preview mistral/mistral-large-latest deepseek/deepseek-chat
groq/llama-3.3-70b-versatile xai/grok-4 openrouter/anthropic/claude-haiku-4.5 cohere/command-a-03-2025 ollama/qwen3
moonshot/kimi-k2 qwen/qwen3-max zhipu/glm-4.6 perplexity/sonar cerebras/gpt-oss-120b fireworks/kimi-k2
bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0 bedrock/us.amazon.nova-lite-v1:0 vertex-express/gemini-2.5-flash`.split(
    /\s+/,
  );

/** As many calls as asked for: each request to one model after the other. Calls share the parts of their requests. */
export function* manyCalls(outlines: readonly Outline[], count: number): Generator<Outline> {
  for (let made = 0, turn = 0; made < count; turn++)
    for (const outline of outlines) {
      if (made++ >= count) return;
      // The first turn has the models that the requests name.
      const model = turn === 0 ? outline.model : MODELS[(turn + made) % MODELS.length]!;
      const body = "model" in outline.body ? { ...outline.body, model } : outline.body;
      yield { ...outline, model, body, by: model.split("/")[0]!, call: `${outline.call}_${turn}` };
    }
}
