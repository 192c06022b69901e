/** The operation on secrets. */
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { listSecrets } from "./contracts.ts";
import { secretRows } from "./slots.ts";

export const admin: OwnOperations = {
  after: ["reloadConfig"],
  operations: [
    answers(listSecrets, ({ books }) => ({
      json: { secrets: [...(secretRows.get(books.offers)?.() ?? [])] },
    })),
  ],
};
