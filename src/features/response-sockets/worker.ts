/** The part of a process that answers over WebSockets. */
import { GatewayError } from "../../core/error.ts";
import type { Principal } from "../../core/principal.ts";
import type { OwnRoute, Seams, Visit, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { Connection } from "./connection.ts";
import { responseSocketsSection } from "./section.ts";

export const start = (host: WorkerHost): WorkerPart => new ResponseSockets(host);

const PATH = "/v1/responses";
/** Name in the scope `endpoints` of keys. */
const ENDPOINT = "responses";

/** Headers of the upgrade that say nothing about the requests on the connection. */
const OF_CONNECTION =
  /^(?:connection|upgrade|host|sec-websocket-.*|content-.*|accept-encoding|transfer-encoding|keep-alive)$/;

class ResponseSockets implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #open = new Map<Connection, string>();
  #idle = Promise.withResolvers<void>();

  constructor(host: WorkerHost) {
    this.#host = host;
  }

  seams(config: object): Seams | undefined {
    const { enabled, perKey } = responseSocketsSection.of(config);
    if (!enabled) return undefined;
    const route: OwnRoute = {
      ...{ method: "GET", path: PATH, id: "connectResponses", isShared: true },
      summary: "Ask for responses over a WebSocket",
      handle: (request, visit) => this.#connect(request, visit, perKey),
    };
    return { routes: [route] };
  }

  async stop(): Promise<void> {
    for (const connection of this.#open.keys()) connection.drain();
    if (this.#open.size > 0) await this.#idle.promise;
  }

  async #connect(request: Request, visit: Visit, most: number): Promise<Response> {
    const principal = await visit.caller(ENDPOINT);
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket")
      throw new GatewayError("method-not-allowed", `GET is not allowed on ${PATH}; use POST.`, {
        headers: { allow: "POST" },
      });
    const id = principal?.id ?? "";
    if ([...this.#open.values()].filter((one) => one === id).length >= most)
      throw new GatewayError("rate-limited", `The caller has ${most} connections open, which is the most.`, {
        code: "too_many_connections",
      });
    const headers = withoutConnection(request.headers);
    // With the first connection.
    const { Connection } = await import("./connection.ts");
    return visit.upgrade(undefined, (end) => {
      const connection: Connection = new Connection(
        {
          ask: (body, signal) => this.#ask(body, signal, headers, visit, principal),
          closed: () => this.#left(connection),
        },
        end,
      );
      if (this.#open.size === 0) this.#idle = Promise.withResolvers();
      this.#open.set(connection, id);
      return connection;
    });
  }

  /** The credential is looked at again with each request: it may be revoked. */
  async #ask(
    body: Uint8Array,
    signal: AbortSignal,
    headers: Headers,
    visit: Visit,
    opened: Principal | undefined,
  ): Promise<Response> {
    const principal = await visit.caller(ENDPOINT);
    if (principal?.id !== opened?.id)
      throw new GatewayError(
        "authentication",
        "The credential of the connection is another caller's now; connect again.",
      );
    const request = new Request(`http://localhost${PATH}`, {
      method: "POST",
      headers,
      body: body as Uint8Array<ArrayBuffer>,
      signal,
    });
    return this.#host.call(request, { principal, address: visit.address, occupies: true, begins() {} });
  }

  #left(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#idle.resolve();
  }
}

function withoutConnection(headers: Headers): Headers {
  const kept = new Headers({ "content-type": "application/json" });
  for (const [name, value] of headers) if (!OF_CONNECTION.test(name)) kept.set(name, value);
  return kept;
}
