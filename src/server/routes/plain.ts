/** A route without a request body. */
import { GatewayError } from "../../core/error.ts";
import type { ClientCodec } from "../../core/format.ts";
import type { Principal } from "../../core/principal.ts";
import type { Authenticate } from "../authenticate.ts";
import type { Operation } from "../operation.ts";
import { assertScope } from "../key-scope.ts";
import { createRequestId, respondError, respondJson } from "../respond.ts";

export interface PlainContext {
  authenticate: Authenticate;
  codecOf(request: Request): ClientCodec;
  /** The client's address. */
  address(request: Request): string;
}

/** @param principal who asks; absent while calls need no key */
export type AnswerPlain = (request: Request, principal?: Principal) => unknown;

/**
 * Checks the key, unless anyone may call, then answers with JSON. Errors have the format of the client, as its headers show it.
 * @param answer the value of the answer, or the whole answer
 * @param keyHeaders the headers that may hold the key
 */
export function plainRoute(
  { access: needs, endpoint }: Pick<Operation, "access" | "endpoint">,
  { authenticate, codecOf, address: addressOf }: PlainContext,
  answer: AnswerPlain,
  keyHeaders: readonly string[],
) {
  return async (request: Request): Promise<Response> => {
    const id = createRequestId();
    try {
      let principal: Principal | undefined;
      if (needs === "key") {
        const { address } = codecOf(request).routes;
        principal = await authenticate(request, { address, keyHeaders });
        assertScope(principal, endpoint, () => addressOf(request));
      }
      const value = await answer(request, principal);
      return value instanceof Response ? value : respondJson(value, id);
    } catch (thrown) {
      return respondError(GatewayError.from(thrown), codecOf(request), id);
    }
  };
}
