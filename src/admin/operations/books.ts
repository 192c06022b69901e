/** The books themselves: the proof that they agree, the log of changes, invoices, the store. */
import { Type } from "@sinclair/typebox";
import { readAccount } from "../../ledger/record.ts";
import { actorOf, findKey } from "../entries.ts";
import { operation } from "../operation.ts";
import { DRY_RUN, PAGE, Pruned, request } from "../../operator/shapes.ts";
import {
  Assumptions,
  AuditLog,
  INVOICE,
  Invoices,
  Proof,
  Reconciliation,
  Store,
} from "../../operator/books.ts";

export const bookOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/audit/books",
    id: "auditBooks",
    summary: "Proves that calls, charges, sums and accounts agree to the nano-dollar",
    access: "read",
    wholeGateway: true,
    answer: { name: "AuditReport", schema: Proof },
    handle: async ({ books }) => ({ json: await books.audit() }),
  }),
  operation({
    method: "GET",
    path: "/admin/v1/audit/log",
    id: "auditLog",
    summary: "Who changed what, the newest first",
    access: "read",
    wholeGateway: true,
    query: request(PAGE),
    answer: { name: "AuditLog", schema: AuditLog },
    handle: async ({ books, query }) => ({ json: await books.auditLog(query) }),
  }),
  operation({
    method: "GET",
    path: "/admin/v1/assumptions",
    id: "listAssumptions",
    summary:
      "Money that was held when a worker or a gateway ended, and is booked as assumed; the newest first",
    description: "Charges of calls that are assumed are those of `GET /calls?state=assumed`.",
    access: "read",
    wholeGateway: true,
    query: request(PAGE),
    answer: { name: "Assumptions", schema: Assumptions },
    async handle({ books, query }) {
      const names = new Map(books.policy().budgets.map(({ id, name }) => [id, name]));
      const { entries, ...rest } = await books.assumptions(query);
      const named = entries.map((entry) => {
        const parts = readAccount(entry.account);
        const budget = parts?.kind === "budget" ? parts.id : entry.account;
        return { ...entry, budget: names.get(budget) ?? budget };
      });
      return { json: { entries: named, ...rest } };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/invoices",
    id: "listInvoices",
    summary: "Invoices that were compared with the books",
    access: "read",
    wholeGateway: true,
    answer: { name: "Invoices", schema: Invoices },
    handle: async ({ books }) => ({ json: { invoices: await books.invoices() } }),
  }),
  operation({
    method: "POST",
    path: "/admin/v1/invoices",
    id: "reconcile",
    summary: "Compares an invoice with the books and splits the difference into its causes",
    access: "write",
    wholeGateway: true,
    body: request(INVOICE),
    answer: { name: "Reconciliation", schema: Reconciliation },
    handle: async ({ books, caller, body }) => ({ json: await books.reconcile(body, actorOf(caller)) }),
  }),
  operation({
    method: "GET",
    path: "/admin/v1/store",
    id: "getStore",
    summary: "The store: place, size, age, and what waits to be written",
    access: "read",
    wholeGateway: true,
    answer: { name: "Store", schema: Store },
    handle: async ({ books }) => ({ json: await books.store() }),
  }),
  operation({
    method: "POST",
    path: "/admin/v1/store/backup",
    id: "backupStore",
    summary: "Writes a copy of the store to a file on the machine of the gateway",
    access: "write",
    wholeGateway: true,
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
    async handle({ books, caller, body: { path } }) {
      return { json: { path, ...(await books.backup(path, actorOf(caller))) } };
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/store/check",
    id: "checkStore",
    summary: "Reads the whole store and reports damage",
    access: "write",
    wholeGateway: true,
    answer: { name: "AuditReport", schema: Proof },
    handle: async ({ books }) => ({ json: await books.check() }),
  }),
  operation({
    method: "POST",
    path: "/admin/v1/store/release",
    id: "releaseBudgets",
    summary:
      "Opens keys and hard budgets again that are closed since the store was damaged, or replaced by an older copy",
    access: "write",
    wholeGateway: true,
    answer: { name: "Released", schema: Type.Object({ released: Type.Boolean() }) },
    async handle({ books, caller }) {
      await books.release(actorOf(caller));
      return { json: { released: true } };
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/store/prune",
    id: "pruneStore",
    summary: "Deletes the rows of a key, or what is older than the retention; sums stay",
    access: "write",
    wholeGateway: true,
    body: request({
      key: Type.Optional(Type.String({ maxLength: 100, description: "Id or name of a key." })),
      dryRun: DRY_RUN,
    }),
    bodyOptional: true,
    answer: { name: "Pruned", schema: Pruned },
    errors: ["not_found"],
    async handle(given) {
      const { books, caller, body } = given;
      const key = body.key === undefined ? undefined : findKey(given, body.key).id;
      const { dryRun } = body;
      return { json: await books.prune({ dryRun, ...(key !== undefined && { key }) }, actorOf(caller)) };
    },
  }),
];
