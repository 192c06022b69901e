/** Arguments of `authorize` of a provider: the request as it goes out, and the deployment that it goes to. */
import type { Surroundings } from "./endpoint.ts";
import type { HeaderReader } from "./headers.ts";
import type { Stoppable } from "./stop.ts";

/** A request in its final form: weir sends exactly this URL, these headers and these bytes, with the headers of `authorize` added. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names. Without `host` and `content-length`, which follow from the URL and the body. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body in pieces, in order. */
  readonly body: readonly Uint8Array[];
}

/** A deployment of a provider, as its `authorize` sees it. The same object for all requests until a reload. */
export interface Place extends Surroundings {
  /** Name of the deployment. */
  readonly name: string;
  /** A credential of the set in use, by the name of its environment variable. */
  secret(name: string): string | undefined;
  /** Masks a value, such as a token, in answers, errors and the log. weir masks the values of `secret` by itself. */
  conceal(value: string): void;
  /**
   * State that the plugin keeps between requests, such as a token. If the host answers 401 or 403, weir empties it, at most once in
   * ten seconds, and sends the request once more. weir repeats no request if there was nothing to drop.
   */
  readonly kept: Map<string, unknown>;
  /**
   * Sends a request to another host, such as a token endpoint. Follows no redirects.
   * @throws Error after 10 s, or above 1 MB, and always in `weir explain`, which sends nothing
   */
  fetch(request: PlaceRequest): Promise<PlaceAnswer>;
  /** Milliseconds since 1970, by the clock of the host if a refused request showed that this machine's clock is wrong. */
  now(): number;
}

export interface PlaceRequest {
  /** Absolute http or https URL. */
  url: string;
  /** Default: `POST` with a body, else `GET`. */
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Default and maximum: 10,000. */
  timeoutMs?: number;
  /** Sends the request past the proxy that the environment names, for addresses of the own machine or network. */
  direct?: boolean;
}

export interface PlaceAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly text: string;
}

/** Authorizes the requests to one deployment whose provider has `authorize`. */
export interface Authorizer {
  /** Increases each time `renew` empties what the plugin kept. */
  readonly generation: number;
  /** Values to mask: the credentials in use, and what the plugin conceals. A new list whenever one is added. */
  readonly concealed: readonly string[];
  /** The headers of `authorize` for a request. @throws GatewayError if the plugin fails; the reason of `stop` if it aborts first */
  authorize(request: OutgoingRequest, stop: Stoppable): Promise<Readonly<Record<string, string>>>;
  /**
   * The names of the headers of `authorize` for a request that is not sent. `place.fetch` rejects meanwhile: there are none if the
   * plugin would have to fetch a token first.
   */
  preview(request: OutgoingRequest): Promise<readonly string[]>;
  /**
   * Called when the host refused a request. Empties what the plugin kept, unless another call has done so since or a moment ago.
   * @param generation the generation when the request was authorized
   * @param date header `date` of the refusal: a signature with a wrong time is refused, too
   * @returns whether a repeated request would be authorized anew
   */
  renew(generation: number, date: string | null): boolean | Promise<boolean>;
}
