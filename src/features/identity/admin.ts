/** Operations on people and tokens. */
import type { AdminBooks } from "../../admin/books.ts";
import type { Caller } from "../../admin/callers.ts";
import { actorOf } from "../../admin/entries.ts";
import { type AdminRequest, answers, type OwnOperations } from "../../admin/operation.ts";
import { isWithin, pathFault } from "../../ledger/keys/path.ts";
import { AdminError, conflict, declared, invalid, notFound } from "../../operator/errors.ts";
import {
  addPerson,
  changePerson,
  forgetPerson,
  getPerson,
  listPeople,
  type Person,
  revokeToken,
} from "./contracts.ts";
import type { Grant } from "./groups.ts";
import { meOperations } from "./me/operations.ts";
import { mayRestore, rolesToGive } from "./mandate.ts";
import { besideTokens, isPersonId, personId, tokenId } from "./people.ts";
import type { Access, PeopleBook } from "./people-book.ts";
import { findPerson, listPersons, type PersonEntry } from "./people-reports.ts";
import { keeperPart } from "./slots.ts";

type GivenGrant = Pick<Grant, "role" | "on">;
type Given = Pick<AdminRequest, "books" | "caller">;

const operations = [
  ...meOperations,
  answers(listPeople, async ({ books, caller, query }) => {
    const { limit, after, q } = query;
    const found = await books.read((sql) => listPersons(sql, { within: caller.path, q, limit, after }));
    const people = found.slice(0, limit).map(viewOf);
    return { json: { people, ...(found.length > limit && { next: people.at(-1)!.id }) } };
  }),
  answers(getPerson, async (given) => ({ json: viewOf(await expectPerson(given, given.params.id)) })),
  answers(addPerson, async (given) => {
    const { books, caller, body, now } = given;
    const { issuer, subject, name = "", path, grants } = body;
    expectPath(caller, path, "/path");
    expectGrants(caller, grants, []);
    const id = personId(issuer, subject);
    if (await books.read((sql) => findPerson(sql, id)))
      throw conflict(`There is already a person with this issuer and subject: ${id}.`, "/subject");
    const book = await bookOf(books);
    await book.add({ id, issuer, subject, name, isEmailVerified: false, path, at: now }, "operator");
    await book.decide(actorOf(caller), "add person", id, (former) => ({
      ...former,
      path,
      grants: withHand(caller, former.grants, grants),
    }));
    return confirmed(given, book, id);
  }),
  answers(changePerson, async (given) => {
    const { caller, params, body, now } = given;
    const person = await expectPerson(given, params.id);
    const { status, cut = false, path, grants, revokeTokens } = body;
    if (path) expectPath(caller, path, "/path");
    if (grants) expectGrants(caller, grants, person.access.grants);
    if (path !== undefined && (await bookOf(given.books)).declaredOf(person).path !== undefined)
      throw declared("person", person.name || person.id);
    if (status === "active" && person.access.status !== "active" && !mayRestore(caller))
      throw new AdminError(403, "not_permitted", "A manager suspends people; an admin restores them.");
    if (status !== undefined || path !== undefined || revokeTokens) expectPower(caller, person);
    const book = await bookOf(given.books);
    await decide(
      book,
      caller,
      status === "suspended" ? "suspend person" : "change person",
      person.id,
      (former) => ({
        status: status ?? former.status,
        path: path === undefined ? former.path : path,
        grants: grants ? withHand(caller, former.grants, grants) : former.grants,
        // A token of this very second may be one of those that were stolen.
        not_before: revokeTokens ? Math.floor(now / 1_000) + 1 : former.not_before,
        cut: status === "suspended" && cut ? 1 : 0,
      }),
    );
    return confirmed(given, book, person.id);
  }),
  answers(forgetPerson, async (given) => {
    const { caller, params } = given;
    const person = await expectPerson(given, params.id);
    const { id } = person;
    expectPower(caller, person);
    const book = await bookOf(given.books);
    await decide(book, caller, "forget person", id, (former) => ({
      ...{ path: former.path, grants: [], not_before: former.not_before },
      ...{ status: "deleted", cut: 1 },
    }));
    await book.forget(id);
    return confirmed(given, book, id);
  }),
  answers(revokeToken, async ({ books, caller, body }) => {
    const id = tokenId(body.issuer, body.jti);
    const book = await bookOf(books);
    await book.decide(actorOf(caller), "revoke token", id, (former) => ({
      ...former,
      status: "revoked",
      cut: 1,
    }));
    await expectConfirmed(book);
    return { json: { id } };
  }),
];

/** Paths of pages. */
const PAGES = /^\/auth(\/|$)|^\/console\/me(\/|$)/;
const OAUTH_PAGES = /^\/device$|^\/oauth\/|^\/\.well-known\//;
const SCIM = /^\/scim\/v2(\/|$)/;

export const admin: OwnOperations = {
  after: ["importKeys", "listKeys"],
  operations,
  async placeOf(books, subject) {
    const [table, id = ""] = subject.split("/");
    const person = table === "people" ? await books.read((sql) => findPerson(sql, id)) : undefined;
    return person && pathOf(person);
  },
  page(request, asked) {
    if (OAUTH_PAGES.test(asked.url.pathname)) {
      const browser = keeperPart.get(asked.books.offers)?.browser();
      return browser?.then(async (found) => (await found?.page(request, asked)) ?? noPage());
    }
    if (SCIM.test(asked.url.pathname)) return keeperPart.get(asked.books.offers)?.scim.answer(request, asked);
    if (!PAGES.test(asked.url.pathname)) return undefined;
    const signIn = keeperPart.get(asked.books.offers)?.signIn();
    return signIn?.then(async (found) => (await found.page(request, asked)) ?? noPage());
  },
  refusesKeys: ({ offers }) => keeperPart.get(offers)?.refusesKeys() ?? false,
  async session(request, books, address) {
    if (request.headers.get("cookie") === null) return undefined;
    return (await keeperPart.get(books.offers)?.signIn())?.session(request, books, address);
  },
};

const noPage = () => new Response("not found", { status: 404 });

/** Keys, and the command line of the machine, may take the last admin away: they can name another one. @throws AdminError 409 */
async function decide(
  book: PeopleBook,
  caller: Caller,
  action: string,
  id: string,
  change: (former: Access) => Access,
): Promise<void> {
  try {
    await book.decide(actorOf(caller), action, id, change, { keepsAdmin: isPersonId(caller.actor) });
  } catch (thrown) {
    if ((thrown as Error).name !== "LastAdmin") throw thrown;
    const sentence = "No admin on / would remain; make another person admin there first.";
    throw new AdminError(409, "last_admin", sentence);
  }
}

/** The answer to a change, when all workers know it. */
async function confirmed(given: Given, book: PeopleBook, id: string) {
  await expectConfirmed(book);
  return { json: viewOf(await expectPerson(given, id)) };
}

/** @throws AdminError 503 */
async function expectConfirmed(book: PeopleBook): Promise<void> {
  if (await book.settled()) return;
  throw new AdminError(
    503,
    "person_not_confirmed",
    "The change is stored, but a worker of this or of another gateway has not confirmed it, and may admit calls by what was before; send the request again to wait for it.",
  );
}

/** Finds a person that the caller sees: by id, else by name, address or subject. @throws AdminError 404, 409 */
async function expectPerson({ books, caller }: Given, named: string): Promise<PersonEntry> {
  const byId = isPersonId(named) ? await books.read((sql) => findPerson(sql, named)) : undefined;
  if (byId && isWithin(pathOf(byId), caller.path)) return byId;
  const matching = await books.read((sql) =>
    listPersons(sql, { within: caller.path, named, limit: 1, after: undefined, q: undefined }),
  );
  const [found, second] = matching;
  if (!found) throw notFound("person", named);
  if (second) throw conflict(`Several people are named ${JSON.stringify(named)}; use the id of one.`);
  return found;
}

/** @throws AdminError 400, 403 */
function expectPath({ path: own }: Caller, path: string, at: string): void {
  const fault = pathFault(path);
  if (fault !== undefined) throw invalid(`The path ${fault}.`, at);
  if (!isWithin(path, own))
    throw new AdminError(403, "not_permitted", `This key may act only on ${own} and below.`, { path: at });
}

/** A grant never exceeds what the granter has; one that is there may stay. @throws AdminError 400, 403 */
function expectGrants(caller: Caller, grants: readonly GivenGrant[], former: readonly Grant[]): void {
  for (const [index, grant] of grants.entries()) {
    if (former.some((one) => isSame(one, grant))) continue;
    expectPath(caller, grant.on, `/grants/${index}/on`);
    if (rolesToGive(caller).includes(grant.role)) continue;
    const path = `/grants/${index}/role`;
    throw new AdminError(403, "not_permitted", "A manager grants the roles member and viewer only.", {
      path,
    });
  }
}

/** Who could not give somebody its roles can take nothing from it, either. @throws AdminError 403 */
function expectPower(caller: Caller, { access }: PersonEntry): void {
  const beyond = access.grants.find(
    (grant) => grant.role !== "viewer" && grant.role !== "member" && !mayGive(caller, grant),
  );
  if (!beyond) return;
  const sentence = `The person is ${beyond.role} on ${beyond.on}, which is beyond your rights.`;
  throw new AdminError(403, "not_permitted", sentence);
}

const mayGive = (caller: Caller, { role, on }: GivenGrant) =>
  rolesToGive(caller).includes(role) && isWithin(on, caller.path);

const isSame = (one: GivenGrant, other: GivenGrant) => one.role === other.role && one.on === other.on;

/** Grants by hand that the caller could not give stay as they are. */
function withHand(caller: Caller, former: readonly Grant[], grants: readonly GivenGrant[]): Grant[] {
  const kept = former.filter((grant) => grant.source !== "hand" || !mayGive(caller, grant));
  const isKept = (grant: GivenGrant) => besideTokens(kept).some((one) => isSame(one, grant));
  return [
    ...kept,
    ...grants.filter((grant) => !isKept(grant)).map((grant) => ({ ...grant, source: "hand" })),
  ];
}

const pathOf = ({ path, access }: PersonEntry) => access.path ?? path;

function viewOf(entry: PersonEntry): Person {
  const { id, issuer, subject, name, email, isEmailVerified, source, createdAt, seenAt, access } = entry;
  const { status, grants, not_before: notBefore } = access as Access & { status: Person["status"] };
  return {
    ...{ id, issuer, subject, name, isEmailVerified },
    ...(email !== undefined && { email }),
    ...{ path: pathOf(entry), isPathSet: access.path !== null, status, grants: [...grants], source },
    ...(Number(notBefore) > 0 && { tokensFrom: Number(notBefore) * 1_000 }),
    ...{ createdAt, seenAt },
  };
}

/** @throws AdminError 503 while the part in the keeper does not run */
function bookOf({ offers }: AdminBooks): Promise<PeopleBook> {
  const part = keeperPart.get(offers);
  if (part) return part.book();
  throw new AdminError(503, "store_failed", "People cannot be changed: the keeper has not started.");
}
