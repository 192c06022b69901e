/** A route without a request body. */
import { GatewayError } from "../../core/error.ts";
import type { ClientCodec } from "../../core/format.ts";
import type { Authenticate } from "../authenticate.ts";
import type { Operation } from "../operation.ts";
import { credentialsOf } from "../authenticate.ts";
import { createRequestId, respondError, respondJson } from "../respond.ts";

export interface PlainContext {
  authenticate: Authenticate;
  codecOf(request: Request): ClientCodec;
}

/**
 * Checks the key, unless anyone may call, then answers with JSON. Errors have the format of the client, as its headers show it.
 * @param answer the value of the answer, or the whole answer
 * @param keyHeaders the headers that may hold the key
 */
export function plainRoute(
  access: Operation["access"],
  { authenticate, codecOf }: PlainContext,
  answer: (request: Request) => unknown,
  keyHeaders: readonly string[],
) {
  return async (request: Request): Promise<Response> => {
    const id = createRequestId();
    try {
      if (access === "key") {
        const { address } = codecOf(request);
        authenticate(credentialsOf(request, { address, keyHeaders }), keyHeaders);
      }
      const value = await answer(request);
      return value instanceof Response ? value : respondJson(value, id);
    } catch (thrown) {
      return respondError(GatewayError.from(thrown), codecOf(request), id);
    }
  };
}
