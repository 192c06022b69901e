/** Path in front of all paths at a proxy: `/weir`. The document has it. */
export const PREFIX = globalThis.document?.documentElement.dataset["base"] ?? "";
