/** Where a request of a format says what decides its cost. weir reads it from the parsed body: no spelling hides anything. */
export interface SizeMembers {
  /** Members with the limit of output tokens; the largest one counts. */
  maxTokens: readonly string[];
  /** Objects that may hold `maxTokens` and `choices`. Default: the body itself. */
  within?: readonly string[];
  /** Members with the number of answers; the largest one counts. */
  choices?: string | readonly string[];
  /** Member that may hold a list of texts or of token ids: each is answered by itself. */
  listed?: string;
  /** Members with the service tier and the speed that the client asks for. */
  tier?: string;
  speed?: string;
  /** Members with the tools: lists of objects. */
  tools: readonly string[];
  /** Beginnings of the `type` of tools that the provider runs itself. */
  serverToolTypes: readonly string[];
  /** Beginnings of the members by which a tool without `type` is one that the provider runs itself. */
  serverToolKeys?: readonly string[];
  /** Top-level members that each let the provider run a tool itself. */
  serverMembers?: readonly string[];
  /** Members with arguments, results and schemas of the client's own: all strings in them are text. `tools` are such members too. */
  opaque?: readonly string[];
  /** Members that hold media, by name. */
  media?: Readonly<Record<string, MediaMember>>;
}

/** A string, or a list of strings, that is media instead of text. */
export interface MediaMember {
  /** The members that may hold its object. Default: any. */
  in?: readonly string[];
  /**
   * `data`: base64, or a data URL; its type is in a member beside it. `url`: a data URL, or the address of what the provider
   * fetches. `link`: names what the provider has or fetches. `sealed`: what only the vendor can read, such as reasoning.
   */
  as: "data" | "url" | "link" | "sealed";
  /** It is base64 only if the `type` of its object is this. */
  type?: string;
  /** The most tokens of what the provider fetches. Default: those of a document. */
  most?: number;
  /** Its data is never text. */
  binary?: boolean;
}
