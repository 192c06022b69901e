/**
 * The texts of a format's requests and answers, for code that replaces parts of them: each client codec says where they are.
 */
import type { BrokenStream } from "./format/answer-codec.ts";
import type { Frame } from "./frame.ts";
import type { JsonObject } from "./json.ts";

/**
 * `name`: names and words of the client's own, such as its user, its tools and its stop sequences. `media`: base64, data URIs and
 * links. `logprobs`: the tokens of a text once more. `other`: a member that weir does not know, or that is nothing of the rest.
 */
export type TextKind =
  | "text"
  | "system"
  | "reasoning"
  | "tool-arguments"
  | "tool-result"
  | "declaration"
  | "document"
  | "name"
  | "media"
  | "logprobs"
  | "other";

/** A text, and what decides whether it may be changed. */
export interface Text {
  readonly kind: TextKind;
  /** Path of the member: `messages[0].content[1].text`. */
  readonly path: string;
  /** The vendor refuses it, or reads something else, if it changes. */
  readonly fixed?: "signed" | "encrypted";
  /** The text is JSON, or a part of one: what is written into it needs its escapes. */
  readonly isJson?: true;
  /** Other parts of the conversation refer to it by its letters, as calls to the name of a tool: it cannot be replaced. */
  readonly isReference?: true;
  /** A number among arguments or results of tools. What is written in its place is a string. */
  readonly isNumber?: true;
}

/** A text of a request. */
export interface TextPlace extends Text {
  /** It is a text of a tool that weir runs, and in no request. */
  readonly isTool?: true;
  /** Who said it: the role of its message. */
  readonly role?: string;
  /** The JSON string with its quotes, in the client's bytes. `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The text without its escapes. */
  read(): string;
}

/** A text of an answer, or of one event of a streamed answer. */
export interface AnswerText extends Text {
  /** The text is a piece: the pieces of a channel, joined, are a text. Absent: it is whole. */
  readonly channel?: string;
  /** It is the name of a tool that the model calls, and that others run, or in a stream a piece of it: tells the call from others. */
  readonly call?: string;
  get(): string;
  set(text: string): void;
}

/** Where the texts of a format are. */
export interface TextPlaces {
  /**
   * The texts of a request of any operation, in the order of its bytes.
   * @param bytes a valid JSON object
   * @param withNames also the names of members that the format does not define, which are references: their path is that of
   * their object, and `{}` behind it
   */
  request(bytes: Uint8Array, withNames?: boolean): Iterable<TextPlace>;
  /** The texts of a JSON answer. */
  answer(body: JsonObject): Iterable<AnswerText>;
  /** The texts of one event of a streamed answer: there may be several. */
  event(event: JsonObject): Iterable<AnswerText>;
  /** Channels that get no more text after an event: beginnings of their names. Absent: all go on to the end of the stream. */
  closed?(event: JsonObject): readonly string[];
  /** Clients join the texts of one channel alone: pieces of another one may come before or after. Absent: the order of all counts. */
  readonly independent?: boolean;
  /**
   * The frames that end a stream as a refusal, in place of the rest of the answer. A tool call that is open stays cut.
   * @param broken what the client got before
   */
  stopped(reason: string, broken: BrokenStream): Frame[];
}
