/**
 * Where a request of a format says what decides its cost. weir reads it from the bytes, without parsing the body. Members are
 * top-level; marks are ASCII sequences.
 */
export interface SizeMembers {
  /** Members with the limit of output tokens; the largest one counts. */
  maxTokens: readonly string[];
  /** Objects that may hold `maxTokens` and `choices`. Default: the body itself. */
  within?: readonly string[];
  /** Member with the number of answers. */
  choices?: string;
  /** Members with the service tier and the speed that the client asks for. */
  tier?: string;
  speed?: string;
  /** Members with the tools. */
  tools: readonly string[];
  /** Marks in the tools that name a tool which the provider runs itself. */
  serverTools: readonly string[];
  /** Members that each let the provider run a tool itself. */
  serverToolMembers?: readonly string[];
  /** Images are strings of base64 in a list. Default false: each is a data URL, or in a member `data`. */
  bareImages?: boolean;
  /** Marks of images and documents that the provider fetches itself, with the most tokens that each can have. */
  links?: Readonly<Record<string, number>>;
}
