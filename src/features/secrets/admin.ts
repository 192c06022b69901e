/** The operation on secrets. */
import { actorOf } from "../../admin/entries.ts";
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { AdminError } from "../../operator/errors.ts";
import { listSecrets, rekeySecrets } from "./contracts.ts";
import { rewrap, secretRows } from "./slots.ts";

export const admin: OwnOperations = {
  after: ["reloadConfig"],
  operations: [
    answers(listSecrets, ({ books }) => ({
      json: { secrets: [...(secretRows.get(books.offers)?.() ?? [])] },
    })),
    answers(rekeySecrets, async ({ books, caller }) => {
      const run = rewrap.get(books.offers);
      if (!run) throw new AdminError(503, "gateway_failed", "The keeper has not started.");
      const done = await run().catch((cause: Error) => {
        throw new AdminError(409, "not_available", `Nothing was sealed anew: ${cause.message}.`);
      });
      await books.note(actorOf(caller), "rekey", "secrets", done);
      return { json: done };
    }),
  ],
};
