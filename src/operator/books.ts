/** The books themselves: the proof, the log of changes, invoices, the store. */
import { answer, DRY_RUN, mapOf, nano, PAGE, pageOf, request, time, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { MAX_NANO } from "../ledger/money.ts";
import { contract } from "./contract.ts";

export const Proof = answer({
  holds: Type.Boolean(),
  at: Type.Optional(time("When the newest rows were proven.")),
  full: Type.Optional(
    answer(
      { at: time(""), ms: Type.Integer() },
      { description: "The last proof of all rows, which `checks` are of." },
    ),
  ),
  calls: Type.Optional(Type.Integer({ description: "Proven since the last proof of all rows." })),
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

export const Pruned = answer({
  rows: Type.Integer(),
  tables: mapOf(
    answer({
      rows: Type.Integer(),
      bytes: Type.Optional(Type.Integer({ description: "Estimated size of the rows." })),
    }),
    "By table. The attempts of a call go with it.",
  ),
});
export type Pruned = Static<typeof Pruned>;

export const auditBooks = contract({
  method: "GET",
  path: "/admin/v1/audit/books",
  id: "auditBooks",
  summary: "Proves that calls, charges, sums and accounts agree to the nano-dollar",
  query: request({
    age: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description:
          "The last proof will do if it is no older. Seconds. Else weir proves the rows that came since; a row that was changed by hand before is found by a proof of all rows, which runs once a night and without `age`.",
      }),
    ),
  }),
  needs: { role: "read", on: "gateway" },
  answer: { name: "AuditReport", schema: Proof },
});

export const auditLog = contract({
  method: "GET",
  path: "/admin/v1/audit/log",
  id: "auditLog",
  summary: "Who changed what, the newest first",
  description:
    "A key on a path sees changes of what lies there and below, and its own. A page may have fewer entries than `limit` although more follow.",
  needs: { role: "read", on: "path" },
  query: request(PAGE),
  answer: { name: "AuditLog", schema: AuditLog },
});

export const listAssumptions = contract({
  method: "GET",
  path: "/admin/v1/assumptions",
  id: "listAssumptions",
  summary: "Money that was held when a worker or a gateway ended, and is booked as assumed; the newest first",
  description: "Charges of calls that are assumed are those of `GET /calls?state=assumed`.",
  needs: { role: "read", on: "gateway" },
  query: request(PAGE),
  answer: { name: "Assumptions", schema: Assumptions },
});

export const listInvoices = contract({
  method: "GET",
  path: "/admin/v1/invoices",
  id: "listInvoices",
  summary: "Invoices that were compared with the books",
  needs: { role: "read", on: "gateway" },
  answer: { name: "Invoices", schema: Invoices },
});

export const reconcile = contract({
  method: "POST",
  path: "/admin/v1/invoices",
  id: "reconcile",
  summary: "Compares an invoice with the books and splits the difference into its causes",
  needs: { role: "admin", on: "gateway" },
  body: request(INVOICE),
  answer: { name: "Reconciliation", schema: Reconciliation },
});

export const getStore = contract({
  method: "GET",
  path: "/admin/v1/store",
  id: "getStore",
  summary: "The store: place, size, age, and what waits to be written",
  needs: { role: "read", on: "gateway" },
  answer: { name: "Store", schema: Store },
});

export const backupStore = contract({
  method: "POST",
  path: "/admin/v1/store/backup",
  id: "backupStore",
  summary: "Writes a copy of the store to a file on the machine of the gateway",
  needs: { role: "admin", on: "gateway" },
  body: request({
    path: Type.String({
      pattern: "^/[^\\0]{1,1000}$",
      "x-expects": "an absolute path",
      description: "Absolute path of a file that does not exist.",
    }),
  }),
  answer: {
    name: "Backup",
    schema: Type.Object({ path: Type.String(), bytes: Type.Integer() }),
  },
  errors: ["store_failed"],
});

export const checkStore = contract({
  method: "POST",
  path: "/admin/v1/store/check",
  id: "checkStore",
  summary: "Reads the whole store and reports damage",
  needs: { role: "admin", on: "gateway" },
  answer: { name: "AuditReport", schema: Proof },
});

export const releaseBudgets = contract({
  method: "POST",
  path: "/admin/v1/store/release",
  id: "releaseBudgets",
  summary:
    "Opens keys and hard budgets again that are closed since the store was damaged, or replaced by an older copy",
  needs: { role: "admin", on: "gateway" },
  answer: { name: "Released", schema: Type.Object({ released: Type.Boolean() }) },
});

export const pruneStore = contract({
  method: "POST",
  path: "/admin/v1/store/prune",
  id: "pruneStore",
  summary: "Deletes the rows of a key, or what is older than the retention; sums stay",
  needs: { role: "admin", on: "gateway" },
  body: request({
    key: Type.Optional(Type.String({ maxLength: 100, description: "Id or name of a key." })),
    dryRun: DRY_RUN,
  }),
  bodyOptional: true,
  answer: { name: "Pruned", schema: Pruned },
  errors: ["not_found"],
});
