/** Reconcile: the command `weir reconcile`, an invoice of a provider against the books. */
import { CONNECT_FLAGS, JSON_FLAG } from "../../cli/command.ts";
import type { Feature } from "../../feature/feature.ts";

export const reconcile: Feature = {
  name: "reconcile",
  commands: [
    {
      name: "reconcile",
      after: ["audit log"],
      summary: "compare a provider's invoice with the books, and split the difference into its causes",
      words: [{ name: "PROVIDER" }, { name: "MONTH" }, { name: "DOLLARS" }],
      flags: [JSON_FLAG, ...CONNECT_FLAGS],
      run: () => import("./cli.ts"),
    },
  ],
};
