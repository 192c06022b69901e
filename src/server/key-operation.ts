/** The operation with which a client reads what its own key may use, and what it has used. */
import { GatewayError } from "../core/error.ts";
import type { Ledger } from "../core/ledger.ts";
import { OWN_KEY } from "./errors.ts";
import type { MakePlain } from "./model-operations.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { OwnKey } from "./schemas.ts";
import { commonAliases } from "./served-routes.ts";

const PATH = "/v1/key";

export function keyOperation(formats: readonly ClientFormat[], ledger: Ledger, plain: MakePlain): Operation {
  return plain(
    {
      method: "GET",
      path: PATH,
      aliases: commonAliases(formats, PATH),
      id: "describeKey",
      summary: "The client's own key",
      description:
        "The limits and budgets that count the calls of the key, what is left of them, and the calls of the last 24 hours.",
      access: "key",
      answer: { name: "OwnKey", schema: OwnKey },
      errors: OWN_KEY,
    },
    (_request, principal) => {
      if (principal && ledger.describeKey) return ledger.describeKey(principal);
      throw new GatewayError("not-found", "This gateway has no keys: calls need none.", { code: "no_keys" });
    },
  );
}
