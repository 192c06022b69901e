/** The variables in which SDKs and programs read the address of their vendor and its key. */
import type { Aim, Variables } from "./client.ts";

/**
 * The SDKs of OpenAI, Anthropic and Google, LiteLLM, and everything that speaks to Ollama. A key of a vendor that the user has set is replaced: the
 * gateway would get it otherwise. Keys of vendors whose address stays as it is stay too.
 */
export function sdkVariables({ url, key, user }: Aim): Variables {
  return {
    ...withoutProxy(user),
    WEIR_URL: url,
    WEIR_API_KEY: key,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_BASE: `${url}/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: url,
    // LiteLLM adds /v1/messages to it.
    ANTHROPIC_API_BASE: url,
    ANTHROPIC_API_KEY: key,
    // The SDK would send it beside the key.
    ANTHROPIC_AUTH_TOKEN: undefined,
    GOOGLE_GEMINI_BASE_URL: url,
    // The name in LiteLLM.
    GEMINI_API_BASE: url,
    GEMINI_API_KEY: key,
    GOOGLE_API_KEY: key,
    // With it, the SDK of Google asks Vertex AI.
    GOOGLE_GENAI_USE_VERTEXAI: undefined,
    OLLAMA_HOST: url,
    OLLAMA_API_BASE: url,
    OLLAMA_API_KEY: key,
  };
}

/** Where a proxy is set, calls to this machine do not go through it. Programs read the names in small letters, in capitals, or both. */
function withoutProxy(user: Variables): Variables {
  if (!user["HTTP_PROXY"] && !user["http_proxy"] && !user["ALL_PROXY"] && !user["all_proxy"]) return {};
  const given = user["NO_PROXY"] || user["no_proxy"];
  const list = [given, "127.0.0.1", "localhost"].filter(Boolean).join(",");
  return { NO_PROXY: list, no_proxy: list };
}
