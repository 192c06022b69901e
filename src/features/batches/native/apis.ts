/** The batch APIs of vendors that weir speaks. */
export const APIS = ["openai", "azure", "mistral", "anthropic", "gemini"] as const;

export type Api = (typeof APIS)[number];
