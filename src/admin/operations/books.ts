/** The books themselves: the proof that they agree, the log of changes, invoices, the store. */
import { readAccount } from "../../ledger/record.ts";
import { seenEntries } from "../audit-entries.ts";
import { actorOf, findKey } from "../entries.ts";
import { type AdminOperation, answers, type OwnOperations } from "../operation.ts";
import {
  auditBooks,
  auditLog,
  backupStore,
  checkStore,
  getStore,
  listAssumptions,
  listInvoices,
  pruneStore,
  reconcile,
  releaseBudgets,
} from "../../operator/books.ts";

/** @param own of features */
export const bookOperations = (own: readonly OwnOperations[]): readonly AdminOperation[] => [
  answers(auditBooks, async ({ books, query: { age } }) => ({
    json: await books.audit(age === undefined ? undefined : age * 1_000),
  })),
  answers(auditLog, async (given) => ({ json: await seenEntries(given, given.query, own) })),
  answers(listAssumptions, async ({ books, query }) => {
    const names = new Map(books.policy().budgets.map(({ id, name }) => [id, name]));
    const { entries, ...rest } = await books.assumptions(query);
    const named = entries.map((entry) => {
      const parts = readAccount(entry.account);
      const budget = parts?.kind === "budget" ? parts.id : entry.account;
      return { ...entry, budget: names.get(budget) ?? budget };
    });
    return { json: { entries: named, ...rest } };
  }),
  answers(listInvoices, async ({ books }) => ({ json: { invoices: await books.invoices() } })),
  answers(reconcile, async ({ books, caller, body }) => ({
    json: await books.reconcile(body, actorOf(caller)),
  })),
  answers(getStore, async ({ books }) => ({ json: await books.store() })),
  answers(backupStore, async ({ books, caller, body: { path } }) => {
    return { json: { path, ...(await books.backup(path, actorOf(caller))) } };
  }),
  answers(checkStore, async ({ books }) => ({ json: await books.check() })),
  answers(releaseBudgets, async ({ books, caller }) => {
    await books.release(actorOf(caller));
    return { json: { released: true } };
  }),
  answers(pruneStore, async (given) => {
    const { books, caller, body } = given;
    const key = body.key === undefined ? undefined : findKey(given, body.key).id;
    const { dryRun } = body;
    return { json: await books.prune({ dryRun, ...(key !== undefined && { key }) }, actorOf(caller)) };
  }),
];
