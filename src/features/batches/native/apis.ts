/** The batch APIs of vendors that weir speaks. */
export const APIS = ["openai"] as const;

export type Api = (typeof APIS)[number];
