/** Operations of parts, and what is around them. */
import type { Vendor } from "../core/format.ts";
import type { Principal } from "../core/principal.ts";
import type { End, Listening } from "../core/socket.ts";
import type { ToolScreen } from "../core/tool-screen.ts";
import type { BrowserUser } from "./browsers.ts";
import type { Issued, Resource } from "./credentials.ts";

/** An operation of a part: it is no call, and answers in its own way. */
export interface OwnRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** `{name}` stands for one segment. */
  readonly path: string;
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly summary: string;
  /** Clients of several vendors ask it: credentials are where those of the vendor send them. */
  readonly isShared?: true;
  handle(request: Request, visit: Visit): Response | Promise<Response>;
}

/** @param next answers the request, or a changed one, as without the part. It may be called any number of times. */
export type AroundRoute = (
  visited: Visited,
  next: (changed?: Visited) => Promise<Response>,
) => Promise<Response>;

/** A request to an {@link OwnRoute}. */
export interface Visited {
  readonly route: OwnRoute;
  readonly request: Request;
  readonly visit: Visit;
}

/** What the server knows and does for one request to an {@link OwnRoute}. */
export interface Visit {
  /** The client's address. */
  readonly address: string;
  /** Whose API the client speaks, by its headers, its credential and the path. */
  readonly vendor: Vendor;
  /**
   * Who asks, held to the endpoints and addresses of its key.
   * @param endpoint name in the scope `endpoints` of keys @param resource for which credentials must be that programs get by OAuth
   * @returns undefined while calls need no key @throws GatewayError, which has the challenge of the resource
   */
  caller(endpoint: string, resource?: Resource): Promise<Principal | undefined>;
  /** Where programs get credentials; undefined: nowhere. */
  readonly issued: Issued | undefined;
  /** Who has a credential that is not in a header, but in a form: the same as {@link caller}. @throws GatewayError */
  callerWith(credential: string, endpoint: string): Promise<Principal | undefined>;
  /** Whose browser asks. @param to see {@link FindBrowser} @returns undefined: people do not sign in here */
  browser(to: string): Promise<BrowserUser | undefined>;
  /** Reads the body within the limits of time. @param most bytes @throws GatewayError */
  body(most: number): Promise<Uint8Array>;
  /**
   * The body as it arrives, within the limits of time. The bytes are the receiver's until it asks for the next ones.
   * @param most bytes @throws GatewayError at once if the client declares more, and as {@link body}
   */
  stream(most: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** What looks at a tool that the caller calls by itself, and not by a model. @returns undefined: nothing does */
  screenTools(principal: Principal | undefined): Promise<ToolScreen | undefined>;
  /**
   * Answers the request by a WebSocket. @param protocol the subprotocol that weir chooses
   * @returns what the route returns @throws GatewayError 426 for a request that does not ask for one
   */
  upgrade(protocol: string | undefined, opened: (end: End) => Listening): Response;
  /** Keeps the connection open however long the answer is silent. */
  allowSilence(): void;
}
