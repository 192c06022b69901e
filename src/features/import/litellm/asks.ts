/** The requests that LiteLLM sends for `model` and `api_base`. https://docs.litellm.ai/docs/providers */
import type { SourceRequest } from "../draft.ts";
import { COMPATIBLE } from "./vendors.ts";

/** Where LiteLLM looks for Ollama. */
export const LOCAL_OLLAMA = "http://localhost:11434";

/** Addresses that LiteLLM asks without `api_base`, of providers that weir asks at another one. */
const DEFAULT_BASES: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  "text-completion-openai": "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com/v1beta",
  codestral: "https://codestral.mistral.ai/v1",
  dashscope: "https://dashscope.aliyuncs.com/compatible-mode/v1",
  deepseek: "https://api.deepseek.com/beta",
  github: "https://models.inference.ai.azure.com",
  minimax: "https://api.minimax.io/v1",
  novita: "https://api.novita.ai/v3/openai",
  cohere: "https://api.cohere.com/v2/chat",
  cohere_chat: "https://api.cohere.com/v2/chat",
  ollama: LOCAL_OLLAMA,
  ollama_chat: LOCAL_OLLAMA,
};

/** Of these, addresses that the config must name, because the vendor's other ones take other keys. */
export const OTHER_KEYS = new Set(["codestral", "dashscope"]);

/**
 * @param base `api_base`; absent: the address of the provider itself
 * @returns undefined for providers that need more than an address, and where only the vendor's own address is known
 */
export function askedBy(prefix: string, base = DEFAULT_BASES[prefix]): SourceRequest | undefined {
  if (base === undefined) return undefined;
  const address = base.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  const [format, path] = PATHS[prefix] ?? CHAT;
  // For hosts of OpenAI's format LiteLLM adds its path always.
  const isWhole = address.endsWith(path) && !COMPATIBLE.has(prefix);
  return { format, url: isWhole ? address : address + path };
}

const CHAT = ["chat-completions", "/chat/completions"] as const;

/** The path that LiteLLM adds to an address, unless that ends in it. */
const PATHS: Readonly<Record<string, readonly [format: string, path: string]>> = {
  anthropic: ["messages", "/v1/messages"],
  gemini: ["gemini", "/models/{model}:generateContent"],
  ollama: ["ollama", "/api/generate"],
  ollama_chat: ["ollama", "/api/chat"],
  cohere: ["cohere", ""],
  cohere_chat: ["cohere", ""],
  responses: ["responses", "/responses"],
};
