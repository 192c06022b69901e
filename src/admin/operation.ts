/** An operation of the admin API: a route with all that its document, its validation and its access check need. */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { AdminBooks } from "./books.ts";
import type { Caller } from "./callers.ts";
import type { OwnHosts } from "./guard.ts";
import type { Sessions } from "./session/sessions.ts";
import type { WrongTries } from "./wrong-tries.ts";

/**
 * `open`: everyone; `scraper`: everyone if weir listens on loopback, otherwise like `read`; `read`: admin and read keys;
 * `write`: admin keys.
 */
export type Access = "open" | "scraper" | "read" | "write";

export interface AdminOperation {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `{id}` stands for one segment. */
  path: string;
  /** `operationId` of the OpenAPI document. */
  id: string;
  summary: string;
  description?: string;
  access: Access;
  /** Not put in line with other writes, and not repeated by its `Idempotency-Key`: it changes nothing that others read. */
  alone?: boolean;
  /** Only keys on the path `/` may use it: it concerns the whole gateway. */
  wholeGateway?: boolean;
  query?: TObject;
  body?: TSchema;
  /** A request without a body means an empty object. */
  bodyOptional?: boolean;
  answer: NamedSchema | { text: string };
  /** Status of success. Default 200. */
  status?: number;
  /** Codes of its own errors. */
  errors?: readonly string[];
  handle(request: AdminRequest): Reply | Promise<Reply>;
}

/** A schema and its name among the components of the document. */
export interface NamedSchema {
  name: string;
  schema: TSchema;
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

/** The request of an operation with these schemas. */
export type RequestOf<Query extends TObject, Body extends TSchema> = Omit<AdminRequest, "query" | "body"> & {
  query: Static<Query>;
  body: Static<Body>;
};

type Typed<Query extends TObject, Body extends TSchema> = Omit<
  AdminOperation,
  "query" | "body" | "handle"
> & {
  query?: Query;
  body?: Body;
  handle(request: RequestOf<Query, Body>): Reply | Promise<Reply>;
};

/** Types query and body of an operation by its schemas, which the server has checked before it calls `handle`. */
export function operation<Query extends TObject, Body extends TSchema>(
  typed: Typed<Query, Body>,
): AdminOperation {
  const { handle, ...rest } = typed;
  return { ...rest, handle: (request) => handle(request as RequestOf<Query, Body>) };
}
