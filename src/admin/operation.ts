/** An operation of the admin API: a contract, and the function that answers it. */
import type {
  AnswerOf,
  BodyOf,
  Contract,
  Frozen,
  ParamsOf,
  QueryOf,
  TextAnswer,
} from "../operator/contract.ts";
import type { KeyOption } from "../ledger/keys/option.ts";
import type { Note } from "../operator/overview.ts";
import type { AdminBooks } from "./books.ts";
import type { Caller } from "./callers.ts";
import type { OwnHosts } from "./guard.ts";
import type { OwnPages, OwnSession } from "./own-pages.ts";
import type { Sessions } from "./session/sessions.ts";
import type { WrongTries } from "./wrong-tries.ts";

/** A contract with the function that answers its requests. */
export interface AdminOperation extends Contract {
  handle(request: AdminRequest): Reply | Promise<Reply>;
}

/** Operations of a feature. */
export interface OwnOperations extends OwnPages {
  /** Ids of operations: they follow the first of them that the build has in the OpenAPI document. */
  readonly after: readonly string[];
  readonly operations: readonly AdminOperation[];
  /** Values of columns in the answer of `getCall` that the store of the books does not have. */
  ofCall?(books: AdminBooks, id: string): object | undefined;
  /** Adds to the notes of `overview`: links to them, or notes of its own. Asked every few seconds by each page. */
  notes?(
    given: Pick<AdminRequest, "books" | "caller" | "now">,
    notes: readonly Note[],
  ): Promise<readonly Note[]>;
  /** The path at which a subject of the audit log lies, if it is one of the feature: `people/per_…`. */
  placeOf?(books: AdminBooks, subject: string): Promise<string | undefined>;
}

/** The operations of a feature, with its name. */
export interface NamedOperations extends OwnOperations {
  readonly feature: string;
}

export interface AdminRequest {
  books: AdminBooks;
  caller: Caller;
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  headers: Headers;
  /** Milliseconds since 1970. */
  now: number;
  own: OwnHosts;
  sessions: Sessions;
  tries: WrongTries;
  /** @throws AdminError 403 where keys are off */
  expectKeys(): void;
  /** The session of a feature that the caller has. */
  session?: OwnSession;
  /** The options of keys in this build. */
  keyOptions?: readonly KeyOption[];
  /** The client has disconnected. */
  signal: AbortSignal;
  /** Whether the caller may still do this: for answers that last. */
  isAllowed(): boolean;
}

/** JSON, text of another type, or the answer of the gateway as it is. */
export type Reply =
  | { json: unknown; version?: string; headers?: Readonly<Record<string, string>> }
  | { text: string | ReadableStream<Uint8Array>; type: string }
  | { relayed: Response };

/** A request that satisfies a contract. */
export type Requested<Said extends Contract> = Omit<AdminRequest, "params" | "query" | "body"> & {
  params: ParamsOf<Said["path"]>;
  query: QueryOf<Said>;
  body: BodyOf<Said>;
};

interface JsonReply<Answer> {
  json: Frozen<Answer>;
  version?: string;
  headers?: Readonly<Record<string, string>>;
}

type TextReply = Extract<Reply, { text: unknown }>;
type Relayed = Extract<Reply, { relayed: unknown }>;

/** A reply that satisfies a contract: the shape that it publishes, or text of its type. */
export type ReplyTo<Said extends Contract> = Said["answer"] extends TextAnswer
  ? TextReply | Relayed
  : JsonReply<AnswerOf<Said>> | (Said extends { csv: true } ? TextReply : never);

/** Binds a contract to the function that answers its requests, which the server has checked before. */
export function answers<const Said extends Contract>(
  said: Said,
  handle: (request: Requested<Said>) => ReplyTo<Said> | Promise<ReplyTo<Said>>,
): AdminOperation {
  return { ...said, handle: (request) => handle(request as Requested<Said>) as Reply | Promise<Reply> };
}
