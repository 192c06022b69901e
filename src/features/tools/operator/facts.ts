/** What only workers know of servers, for operators. */
import type { Era } from "../wire/revisions.ts";
import type { PinMode } from "../pins/declarations.ts";

/** A server as the config has it; nothing of it is secret. */
export interface ServerSummary {
  readonly name: string;
  readonly transport: "http" | "program";
  /** The URL without its query, or the program without its arguments. */
  readonly at: string;
  readonly allow: readonly string[];
  readonly only: readonly string[];
  readonly isolation: "key" | "shared" | "call";
  /** Undefined: `approve` for callers with a key, `off` while calls need none. */
  readonly pin?: PinMode;
  /** Dollars for one call, by patterns over names with the server in front. */
  readonly prices?: Readonly<Record<string, number>>;
}

/** What weir learned of a server when it talked to it last. */
export interface ServerReport {
  readonly server: string;
  readonly isUp: boolean;
  /** Why it cannot be reached: one clause. */
  readonly reason?: string;
  readonly era?: Era;
  /** Revision of the protocol. */
  readonly version?: string;
  /** What it says of itself: name and version. */
  readonly info?: { readonly name?: string; readonly version?: string };
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Lines that the programs of a server wrote to their standard error. */
export type OperatorAsk = { readonly logs: string };

/** A question that cannot be answered has `fault`: one clause. */
export type OperatorAnswer =
  | { readonly logs: readonly { readonly program: string; readonly text: string }[] }
  | { readonly fault: string };
