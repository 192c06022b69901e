/**
 * The sections of a prompt in the order in which providers cache them: a cached prefix ends at the first section that differs.
 * Only hashes of their content are kept.
 */
export interface PromptSections {
  /** Members of the request with the number of their sections; 0 stands for one section that is not an element of a list. */
  parts: readonly PromptPart[];
  /** Number of the sections before the first turn of the conversation. */
  head: number;
  /** 8 bytes for each section. */
  hashes: Uint8Array;
}

export type PromptPart = readonly [name: string, count: number];
