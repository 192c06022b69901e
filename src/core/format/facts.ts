/** Facts about a request of a format besides its content: its cost, its conversation, its options. */
import type { FilePlaces } from "../file-places.ts";
import type { HeaderReader } from "../headers.ts";
import type { RateHeaders } from "../limit-figures.ts";
import type { PromptSections } from "../prompt-sections.ts";
import type { SizeMembers } from "../size-members.ts";
import type { TextPlaces } from "../text-places.ts";

export interface RequestFacts {
  /** Where a request says what decides its cost. Without it weir expects the most that the model can answer. */
  size?: SizeMembers;
  /** Where a request has the options that the config can set by model. */
  settings?: SettingMembers;
  /**
   * Identifies the conversation that a request belongs to, so that weir keeps it at the deployment that has its prompt in
   * the cache. weir calls it only if there are several deployments.
   */
  sessionOf?(source: SessionSource): string | undefined;
  /** The conversation as the client itself names it: {@link sessionOf} has that first. weir calls it for every request. */
  namedSession?(source: SessionSource): string | undefined;
  /** The sections of the prompt, for the reason why a cached prefix was not read again. */
  promptSections?(source: SessionSource): PromptSections | undefined;
  /**
   * Clients may send tool calls back without their ids. weir then finds signed reasoning by the conversation. Default false: by
   * the id.
   */
  losesCallIds?: boolean;
  /** Where the texts of its requests and answers are. */
  places?: TextPlaces;
  /** Where its requests name files by ids. */
  files?: FilePlaces;
  /** How weir's own rate limits are written into response headers; absent if clients of the format read none. */
  rateHeaders?: RateHeaders;
}

/** The paths of an option in a request. */
export interface SettingMember {
  /** Spellings of one member: weir writes the first, or the one in a group that the client has. */
  at: readonly string[];
  /** Other members by which a client decides the same. */
  unless?: readonly string[];
}

/** Where a request has the options that the config can set by model. */
export type SettingMembers = Readonly<
  Partial<Record<"temperature" | "topP" | "maxTokens" | "reasoningEffort", SettingMember>>
>;

/** The identity of a conversation. The body is not parsed. */
export interface SessionSource {
  headers: HeaderReader;
  /** The body as the client sent it. */
  bytes: Uint8Array;
  /** Byte range of the value of a top-level member. */
  spanOf(name: string): { start: number; end: number } | undefined;
}
