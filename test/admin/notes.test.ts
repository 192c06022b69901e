/** What the console says needs the operator. */
import { expect, test } from "bun:test";
import {
  inOrder,
  notesOfBooks,
  notesOfBudgets,
  notesOfCalls,
  notesOfDeployments,
} from "../../src/admin/notes.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budget, MONTH, NOW } from "../keeper/books/make.ts";

const account = (id: string, spent: number, held = 0) => ({
  ...{
    account: `b:${id}`,
    budget: id,
    startsAt: MONTH,
    spent,
    assumed: 0,
    overrun: 0,
    granted: held,
    alerted: 0,
    held,
    own: 0,
  },
});
const textsOf = (notes: readonly { text: string }[]) => notes.map(({ text }) => text);

test("books without trouble have no notes, and each trouble has a sentence", () => {
  expect(notesOfBooks({ waiting: 3, priceAgeDays: 60 })).toEqual([]);
  const proof = { at: 1, ms: 2, holds: false };
  const notes = notesOfBooks({
    waiting: 1,
    fault: "the disk is full",
    closed: "Budgets are closed",
    proof,
    priceAgeDays: 61,
  });
  expect(textsOf(inOrder(notes.toReversed()))).toEqual([
    "The books do not agree: the last proof found a difference.",
    "Budgets are closed.",
    "The store cannot be written: the disk is full. One batch of records waits in memory.",
    "The prices are 61 days old. Update weir, or set prices of newer models in the config.",
  ]);
});

test("a budget is low from its first alert on, and empty with what is held; one that only counts is neither", () => {
  const budgets = [budget("a"), budget("b"), budget("c"), budget("d", { mode: "watch" }), budget("e")];
  const accounts = [
    account("a", 0.79 * DOLLAR),
    account("b", 0.8 * DOLLAR),
    account("c", 0.6 * DOLLAR, 0.4 * DOLLAR),
    account("d", 2 * DOLLAR),
    { ...account("e", 2 * DOLLAR), endsAt: NOW },
  ];
  expect(notesOfBudgets(budgets, accounts, NOW)).toEqual([
    { kind: "budget-low", level: "warn", subject: "b", text: "b is at 80 %: $0.80 of $1.00 are spent." },
    { kind: "budget-empty", level: "bad", subject: "c", text: "c is empty: $0.60 of $1.00 are spent." },
  ]);
});

test("M16: amounts in a sentence have commas at the thousands", () => {
  const budgets = [{ ...budget("d"), name: "d", limit: 1_234_567 * DOLLAR }];
  const [note] = notesOfBudgets(budgets, [account("d", 1_234_567 * DOLLAR)], NOW);
  expect(note!.text).toBe("d is empty: $1,234,567.00 of $1,234,567.00 are spent.");
});

test("a deployment is named once, with the reason of one worker", () => {
  const notes = notesOfDeployments([
    { deployment: "p/eu", state: "open", why: "failing", what: "529" },
    { deployment: "p/eu", state: "open", why: "failing" },
    { deployment: "q", state: "half-open" },
    { deployment: "r", state: "open", why: "refused" },
  ]);
  expect(notes.map(({ level, text }) => [level, text])).toEqual([
    ["warn", "p/eu is left alone, because its calls failed (529)."],
    ["bad", "r is left alone, because it refused weir's credential, or the account has no funds."],
  ]);
});

test("calls without a price are counted", () => {
  expect(notesOfCalls(0)).toEqual([]);
  expect(textsOf([...notesOfCalls(1), ...notesOfCalls(2)])).toEqual([
    "One call of today has no known price and is in no sum.",
    "2 calls of today have no known price and are in no sum.",
  ]);
});
