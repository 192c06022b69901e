/** What the part that serves browsers asks the process of the tools. Plain JSON: it crosses a socket. */
import type { Begun, CameBack } from "./accounts.ts";

export interface LinkOf {
  readonly server: string;
  /** Secret of the link. */
  readonly secret: string;
}

export type ConnectAsk =
  | {
      readonly link: LinkOf;
      /** Id of the principal who has shown itself: the account is to be connected. Absent: whose link is it? */
      readonly owner?: string;
      /** Somebody else has tried the link. */
      readonly refuse?: true;
    }
  | { readonly finish: CameBack }
  /** Who has accounts? */
  | { readonly owners: true }
  /** A caller is gone for good. */
  | { readonly forget: string };

export type ConnectAnswer =
  /** Whose link it is, and the host of the server. */
  | { readonly link: { readonly owner: string; readonly host: string } }
  | { readonly begun: Begun }
  /** Name of the server whose account is connected. */
  | { readonly server: string }
  /** There is no such link, or not any more. */
  | { readonly gone: true }
  | { readonly owners: readonly string[] }
  /** A clause. */
  | { readonly fault: string };

/** @throws Error while the process is away */
export type AskConnect = (ask: ConnectAsk) => Promise<ConnectAnswer>;
