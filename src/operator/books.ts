/** The books themselves: the proof, the log of changes, invoices, the store. */
import { type Static, Type } from "@sinclair/typebox";
import { MAX_NANO } from "../ledger/money.ts";
import { answer, nano, pageOf, time, words } from "./shapes.ts";

export const Proof = answer({
  holds: Type.Boolean(),
  checks: Type.Array(answer({ name: Type.String(), holds: Type.Boolean(), detail: Type.String() })),
});
export type Proof = Static<typeof Proof>;

export const INVOICE = {
  provider: Type.String({ pattern: "^[a-z][a-z0-9-]{0,63}$", "x-expects": "the name of a provider" }),
  month: Type.String({
    pattern: "^20\\d\\d-(0[1-9]|1[0-2])$",
    "x-expects": "a month such as 2026-11",
    description: "`2026-11`, in UTC.",
  }),
  amount: Type.Integer({
    minimum: 0,
    maximum: MAX_NANO,
    description: "What the provider charges. Nano-dollars.",
  }),
  note: Type.Optional(Type.String({ maxLength: 500 })),
};

export const Invoices = answer({ invoices: Type.Array(answer(INVOICE)) });
export type Invoices = Static<typeof Invoices>;

export const Reconciliation = answer({
  provider: INVOICE.provider,
  month: INVOICE.month,
  invoiced: nano(""),
  booked: nano("All charges of the month."),
  difference: nano("`invoiced` without `booked`."),
  causes: Type.Array(answer({ name: Type.String(), amount: nano(""), detail: Type.String() })),
});
export type Reconciliation = Static<typeof Reconciliation>;

export const AuditEntry = answer({
  id: Type.String(),
  at: time(""),
  actor: Type.String({ description: "Id of a key, `console`, `run-file` or `cli`." }),
  address: Type.Optional(Type.String()),
  action: Type.String(),
  subject: Type.String(),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditLog = pageOf("entries", AuditEntry);
export type AuditLog = Static<typeof AuditLog>;

export const Assumptions = pageOf(
  "entries",
  answer({
    at: time(""),
    account: Type.String({ description: "The window of the budget." }),
    budget: Type.String({ description: "Name of the budget; its id if it was deleted." }),
    amount: nano(""),
    why: Type.String(),
  }),
);
export type Assumptions = Static<typeof Assumptions>;

export const Store = answer({
  kind: words(["sqlite", "postgres", "memory"]),
  place: Type.String(),
  bytes: Type.Integer(),
  calls: Type.Integer(),
  oldestCall: Type.Optional(time("")),
  waiting: Type.Integer({ description: "Records that are not written yet." }),
  auditing: Type.Optional(
    answer(
      { done: Type.Integer(), of: Type.Integer() },
      { description: "Checks of the audit that runs: those that are done, of how many." },
    ),
  ),
  fault: Type.Optional(Type.String()),
  keep: Type.Optional(
    answer(
      {
        calls: Type.Integer({ description: "Days." }),
        hours: Type.Integer({ description: "Days of the sums by hour; those by day are kept for ever." }),
        sessions: Type.Integer({ description: "Days." }),
        callBytes: Type.Integer({ description: "Most bytes of the rows of calls." }),
      },
      { description: "How long rows are kept." },
    ),
  ),
  lastBackup: Type.Optional(
    answer(
      { at: time(""), place: Type.String(), bytes: Type.Integer() },
      { description: "The newest copy." },
    ),
  ),
});
export type Store = Static<typeof Store>;
