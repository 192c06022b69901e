/** Pages and sessions of features on the admin listener, beside the API. */
import type { Contract } from "../operator/contract.ts";
import type { AdminBooks } from "./books.ts";
import type { Caller } from "./callers.ts";

/** What a page is asked with; its host was checked. */
export interface AskedPage {
  readonly url: URL;
  readonly books: AdminBooks;
  /** Of the client. */
  readonly address: string;
}

/** What of a request says whether somebody may make it. */
export interface AskedRequest {
  readonly books: AdminBooks;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  /** As the contract describes it. */
  readonly body: unknown;
}

/** A session that a feature has begun. */
export interface OwnSession {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Whether it goes on, as far as is known without waiting: for answers that last. */
  isCurrent(): boolean;
  /** The caller of an operation; one without a role, if the session permits it to none. */
  callerOf(operation: Pick<Contract, "id" | "needs">): Caller;
  /**
   * The caller of one request to an operation that {@link callerOf} permits: what the request wants may be beyond some of the rights.
   * Asked in line with other writes.
   * @throws AdminError if the request is beyond all of them
   */
  callerFor?(operation: Pick<Contract, "id" | "needs">, request: AskedRequest): Promise<Caller>;
  /** Ends it. @returns the header `set-cookie` of the answer */
  end(): Promise<string>;
}

/** What a feature serves on the listener. */
export interface OwnPages {
  /** @returns undefined for a path that is none of its own */
  page?(request: Request, asked: AskedPage): Promise<Response> | undefined;
  /** Whether only sessions of features are callers: no key is. Links of the command line stay, and its own credential. */
  refusesKeys?(books: AdminBooks): boolean;
  /** Who has the session of a request's cookie; asked for requests without a key. */
  session?(request: Request, books: AdminBooks, address: string): Promise<OwnSession | undefined>;
}
