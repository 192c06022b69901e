/**
 * How clients of a format name servers of tools that run on the server's side, inside of the answer, and what conversations say
 * of tools that ran.
 */
import type { FinishKind, HostedDeclaration, HostedStart } from "../events.ts";
import type { HeaderReader } from "../headers.ts";
import type { JsonObject } from "../json.ts";

export interface HostedCodec {
  /** Text that occurs in every request that names a server of tools: others need not be parsed. */
  mark: string;
  /** @returns undefined if the request names no server */
  asked(body: JsonObject): HostedAsk | undefined;
  /** What a foreign block of the format says, by its value; undefined if it is about no tool of a server. */
  past(value: JsonObject): HostedPast | undefined;
  /** The kinds of blocks that answers have words for. @param headers those of the client */
  shows(headers: HeaderReader): readonly HostedStart["kind"][];
  /** Why an answer ends that could go on with more tools. */
  unfinished: FinishKind;
}

/** What a request asks of tools on the server's side. */
export interface HostedAsk {
  servers: readonly HostedServer[];
  /** The tools that the client demands (`required`), or permits beside its own. */
  choice?: { required: boolean; tools: readonly HostedChoice[] };
  /** The most calls that the client permits in one answer. */
  most?: number;
  /** The request without all that. */
  rest: JsonObject;
}

export interface HostedServer {
  /** JSON path in the request. */
  path: string;
  /** The name by which the client knows the server. */
  label: string;
  /** Its address, as the client wrote it. */
  url?: string;
  /** Whether the client wants the tool. */
  wants(tool: HostedTool): boolean;
  /** Whether the client wants to allow each call of the tool. */
  asksFirst(tool: HostedTool): boolean;
  /** Its tools as an earlier answer listed them: the client wants no others, and no other descriptions. */
  listed?: readonly HostedDeclaration[];
}

export interface HostedChoice {
  server: string;
  /** Absent: any tool of the server. */
  name?: string;
}

/** A tool as filters see it. */
export interface HostedTool {
  /** All its names. */
  names: readonly string[];
  /** Its server says that it changes nothing. */
  isReadOnly: boolean;
}

/** What a conversation says of a tool of a server. */
export type HostedPast =
  | { type: "list"; server: string; tools: readonly HostedDeclaration[] }
  /** A call. `approval`: the id of the request by which the client allowed it. */
  | {
      type: "call";
      id: string;
      server: string;
      name: string;
      input: string;
      approval?: string;
      result?: PastResult;
    }
  /** The result of the call with this id. */
  | { type: "result"; id: string; result: PastResult }
  /** A call that waited for the client's consent. */
  | { type: "request"; id: string; server: string; name: string; input: string }
  /** The client's answer to the request with this id. */
  | { type: "consent"; id: string; isAllowed: boolean; reason?: string };

export interface PastResult {
  text: string;
  isError: boolean;
}
