/**
 * The names of spans and attributes: the GenAI conventions of OpenTelemetry as of September 2026 (status: Development), and the
 * conventions for HTTP and errors, which are stable. https://github.com/open-telemetry/semantic-conventions-genai
 */

export const GENAI = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  requestStream: "gen_ai.request.stream",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  requestChoices: "gen_ai.request.choice.count",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  /** All input, also what a cache holds. */
  input: "gen_ai.usage.input_tokens",
  cacheRead: "gen_ai.usage.cache_read.input_tokens",
  cacheWrite: "gen_ai.usage.cache_write.input_tokens",
  /** The name until 2026, which most backends read. */
  cacheCreation: "gen_ai.usage.cache_creation.input_tokens",
  output: "gen_ai.usage.output_tokens",
  reasoning: "gen_ai.usage.reasoning.output_tokens",
  audioInput: "gen_ai.usage.audio.input_tokens",
  audioOutput: "gen_ai.usage.audio.output_tokens",
  imageInput: "gen_ai.usage.image.input_tokens",
  imageOutput: "gen_ai.usage.image.output_tokens",
} as const;

/** Names of providers in the conventions, by weir's names. Others keep weir's name. */
const PROVIDERS = new Map([
  ["azure", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["bedrock-mantle", "aws.bedrock"],
  ["foundry", "azure.ai.inference"],
  ["gemini", "gcp.gemini"],
  ["gemini-openai", "gcp.gemini"],
  ["gemini-tuned", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

export function providerName(provider: string): string {
  return PROVIDERS.get(provider) ?? provider;
}
