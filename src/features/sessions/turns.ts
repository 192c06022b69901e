/** The calls of a session as turns. */
import type { AdminBooks } from "../../admin/books.ts";
import type { KeptBodies } from "../../admin/kept-bodies.ts";
import type { CallRecord } from "../../ledger/record.ts";
import type { Talk } from "../../operator/talk.ts";
import type { SessionTurn, TurnTalk } from "./contracts.ts";
import { newsOf } from "./news.ts";

/** Most turns of a session, and those of them whose bodies are read. */
const MOST_TURNS = 500;
const MOST_READ = 200;
/** Rows of a page of calls. */
const PAGE = 200;

/** @returns its calls, the oldest first */
export async function callsOf(
  books: AdminBooks,
  session: string,
  within: string,
  most = MOST_TURNS,
): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  let after: string | undefined;
  do {
    const page = await books.calls({ session, within, limit: PAGE, ...(after !== undefined && { after }) });
    calls.push(...page.calls);
    after = page.next;
  } while (after !== undefined && calls.length < most);
  return calls.slice(0, most).reverse();
}

export function turnOf(call: CallRecord, kept: KeptBodies | undefined): SessionTurn {
  const { id, startedAt, ms, model, client, status, outcome, finish, cacheBreak, attempts } = call;
  const last = attempts.at(-1);
  const sum = (amount: (attempt: CallRecord["attempts"][number]) => number) =>
    attempts.reduce((total, attempt) => total + amount(attempt), 0);
  return {
    ...{ id, startedAt, ms, model, status, outcome },
    ...(last && { provider: last.provider, state: last.charge.state }),
    ...(client !== undefined && { client }),
    ...(finish !== undefined && { finish }),
    prompt: sum(({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite),
    cacheRead: sum(({ usage }) => usage.cacheRead),
    cacheWrite: sum(({ usage }) => usage.cacheWrite),
    output: sum(({ usage }) => usage.output),
    cost: sum(({ charge }) => charge.cost),
    ...(cacheBreak && { cacheBreak }),
    captured: kept?.has(id) ?? false,
  };
}

/** @param kept undefined: no bodies are kept */
export async function talkOf(
  books: AdminBooks,
  session: string,
  within: string,
  kept: KeptBodies | undefined,
): Promise<TurnTalk[]> {
  if (!kept) return [];
  const ids: string[] = [];
  const talks: Talk[] = [];
  for (const { id } of await callsOf(books, session, within, MOST_READ)) {
    const talk = await kept.talk(id);
    if (!talk) continue;
    ids.push(id);
    talks.push(talk);
  }
  return newsOf(talks).map((news, at) => ({ id: ids[at]!, ...news }));
}
