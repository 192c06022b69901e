/** Sessions for operators. Who may only read what calls cost must not read what they contain. */
import type { AdminBooks } from "../../admin/books.ts";
import { actorOf } from "../../admin/entries.ts";
import { filterOf, seesCall } from "../../admin/filter.ts";
import { keptBodies } from "../../admin/kept-bodies.ts";
import { type AdminRequest, answers, type OwnOperations } from "../../admin/operation.ts";
import type { QueryOf } from "../../operator/contract.ts";
import { notFound } from "../../operator/errors.ts";
import { getConversation, getConversationTalk, listConversations, listFirstWords } from "./contracts.ts";
import { firstWords } from "./news.ts";
import { newestSessions, oneSession } from "./report.ts";
import { callsOf, talkOf, turnOf } from "./turns.ts";

const HASH = /^[0-9a-f]{16}$/;

const operations = [
  answers(listConversations, async (given) => {
    const rows = await newestOf(given, given.query);
    return { json: { sessions: rows.map(({ first: _, ...row }) => named(given.books, row)) } };
  }),
  answers(listFirstWords, async (given) => {
    const { books, caller } = given;
    const words = await wordsOf(books, await newestOf(given, given.query));
    if (words.size > 0) await books.note(actorOf(caller), "look", "sessions");
    return { json: { words: Object.fromEntries(words) } };
  }),
  answers(getConversation, async (given) => {
    const { books, caller, params } = given;
    const { first: _, client: __, ...session } = await expectSession(given, params.id);
    const calls = await callsOf(books, params.id, caller.path);
    const kept = keptBodies.get(books.offers);
    return { json: { ...named(books, session), turns: calls.map((call) => turnOf(call, kept)) } };
  }),
  answers(getConversationTalk, async (given) => {
    const { books, caller, params } = given;
    await expectSession(given, params.id);
    const turns = await talkOf(books, params.id, caller.path, keptBodies.get(books.offers));
    if (turns.length > 0) await books.note(actorOf(caller), "look", `sessions/${params.id}`);
    return { json: { turns } };
  }),
];

export const admin: OwnOperations = { after: ["getCallBody", "getCallMoney"], operations };

type Given = Pick<AdminRequest, "books" | "caller">;

/** @throws AdminError 400, 404 */
function newestOf(given: Given, { limit, ...filter }: QueryOf<typeof listConversations>) {
  const query = { ...filterOf(given, filter), limit };
  return given.books.read((reader, names) => newestSessions(reader, names, query));
}

/** @throws AdminError 404 */
async function expectSession({ books, caller }: Given, id: string) {
  const found = HASH.test(id)
    ? await books.read((reader, names) => oneSession(reader, names, id))
    : undefined;
  if (!found || !seesCall({ caller }, found)) throw notFound("session", id);
  return found;
}

async function wordsOf(
  books: AdminBooks,
  rows: readonly { session: string; first: string }[],
): Promise<Map<string, string>> {
  const kept = keptBodies.get(books.offers);
  const begun = new Map<string, string>();
  for (const { session, first } of rows) {
    const talk = await kept?.talk(first);
    const words = talk && firstWords(talk);
    if (words !== undefined) begun.set(session, words);
  }
  return begun;
}

/** With the name of its key, if that still exists. */
function named<Entry extends { key?: string }>(
  books: AdminBooks,
  entry: Entry,
): Entry & { keyName?: string } {
  const keyName = books.policy().keys.find(({ id }) => id === entry.key)?.name;
  return keyName === undefined ? entry : { ...entry, keyName };
}
