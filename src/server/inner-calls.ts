/** Requests that a part of weir makes for a caller, as the server gets them from clients. */
import type { InnerCall } from "../gateway/seams.ts";

export class InnerCalls {
  readonly #open = new WeakMap<Request, InnerCall>();
  #isUsed = false;

  /** @returns undefined for a request of a client */
  of(request: Request): InnerCall | undefined {
    return this.#isUsed ? this.#open.get(request) : undefined;
  }

  /** @param fetch of the server: it checks the Host header, which clients send and `Request` lacks */
  run(
    request: Request,
    inner: InnerCall,
    fetch: (request: Request) => Response | Promise<Response>,
  ): Promise<Response> {
    this.#isUsed = true;
    request.headers.set("host", "localhost");
    this.#open.set(request, inner);
    return Promise.resolve(fetch(request));
  }
}
