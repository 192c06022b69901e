/** The charges of a call as lines of a ledger: they add up to the nano-dollar. */
import { answer, nano } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

export const MoneyLine = answer({
  what: Type.String({
    description:
      "A bucket of tokens (`input`, `cacheRead`), `searches` or `request`; `unit:` and a name: other units; `held`: assumed besides.",
  }),
  count: Type.Integer({ description: "Tokens, searches, requests or units." }),
  price: Type.Optional(
    Type.Integer({
      description:
        "Pico-dollars a token, with the factors of region and speed; absent for fees, and without a price.",
    }),
  ),
  amount: Type.Optional(
    nano("Rounded so that the lines of an attempt add up to its charge; absent without a price."),
  ),
});
export type MoneyLine = Static<typeof MoneyLine>;

export const AttemptMoney = answer({
  lines: Type.Array(MoneyLine),
  rule: Type.Optional(
    answer(
      {
        ref: Type.String(),
        provider: Type.String(),
        model: Type.String(),
        source: Type.String({ description: "`config`, or the snapshot and its date." }),
        from: Type.Optional(Type.String({ description: "The first day on which it holds." })),
      },
      {
        description: "Absent for a charge without a rule, and for a rule that is not in the store any more.",
      },
    ),
  ),
  budgets: Type.Array(answer({ id: Type.String(), name: Type.String() }), {
    description: "The budgets that it was booked in.",
  }),
});
export type AttemptMoney = Static<typeof AttemptMoney>;

export const CallMoney = answer({
  attempts: Type.Array(AttemptMoney, { description: "In the order of the attempts of the record." }),
});
export type CallMoney = Static<typeof CallMoney>;

export const getCallMoney = contract({
  method: "GET",
  path: "/admin/v1/calls/{id}/money",
  id: "getCallMoney",
  summary: "The charges of one call as lines that add up to the nano-dollar",
  needs: { role: "read", on: "path" },
  answer: { name: "CallMoney", schema: CallMoney },
  errors: ["not_found"],
});
