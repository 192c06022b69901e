/**
 * The names of spans and attributes: the GenAI conventions of OpenTelemetry as of September 2026 (status: Development), and the
 * conventions for HTTP and errors, which are stable. https://github.com/open-telemetry/semantic-conventions-genai
 */

export const GENAI = {
  operation: "gen_ai.operation.name",
  tool: "gen_ai.tool.name",
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
  tokenType: "gen_ai.token.type",
  output: "gen_ai.usage.output_tokens",
  reasoning: "gen_ai.usage.reasoning.output_tokens",
  audioInput: "gen_ai.usage.audio.input_tokens",
  audioOutput: "gen_ai.usage.audio.output_tokens",
  imageInput: "gen_ai.usage.image.input_tokens",
  imageOutput: "gen_ai.usage.image.output_tokens",
} as const;

/** Seconds: from 10 ms to 82 s, each twice the one before. */
const SECONDS = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);
/** From 1 to 67 million, each four times the one before. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The histograms of clients, with the bounds that the conventions give. Those of model servers are not weir's to report. */
export const METRICS = {
  tokens: {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Number of input and output tokens used.",
    bounds: TOKENS,
  },
  duration: {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    description: "GenAI operation duration.",
    bounds: SECONDS,
  },
  firstChunk: {
    name: "gen_ai.client.operation.time_to_first_chunk",
    unit: "s",
    description: "Time to receive the first chunk of a stream.",
    bounds: SECONDS,
  },
} as const;

/** Names of providers in the conventions, by weir's names. Others keep weir's name. */
export const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["azure", "azure.ai.openai"],
  ["azure-dated", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["bedrock-mantle", "aws.bedrock"],
  ["foundry", "azure.ai.inference"],
  ["foundry-models", "azure.ai.inference"],
  ["gemini", "gcp.gemini"],
  ["gemini-openai", "gcp.gemini"],
  ["gemini-tuned", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["vertex-express", "gcp.vertex_ai"],
  ["vertex-openai", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

export function providerName(provider: string): string {
  return PROVIDERS.get(provider) ?? provider;
}
