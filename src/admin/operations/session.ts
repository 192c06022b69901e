/** Sign-in to the console. */
import { digestOf, isMade } from "../../ledger/keys/form.ts";
import { type Caller, identify } from "../callers.ts";
import { AdminError, invalid } from "../../operator/errors.ts";
import { type AdminRequest, answers } from "../operation.ts";
import { getSession, makeSignInLink, type Session, signIn, signOut } from "../../operator/session.ts";
import { cookieName, cookieOf, expectConsole, readCookies } from "../session/cookie.ts";
import type { Frozen } from "../../operator/contract.ts";

type Given = Pick<
  AdminRequest,
  "books" | "caller" | "headers" | "now" | "own" | "sessions" | "tries" | "expectKeys"
>;

export const sessionOperations = [
  answers(getSession, async (given) => {
    const { headers, own, sessions, books, caller, now, session } = given;
    if (session) return { json: await sessionOf(given, caller, session.until) };
    const presented = { address: caller.address, policy: books.policy(), now };
    const found = sessions.pick(readCookies(headers, own.port), presented);
    // A key in the request wins over a cookie.
    const isSession = found && "caller" in found && found.caller.actor === caller.actor;
    return { json: await sessionOf(given, caller, isSession ? found.until : undefined) };
  }),
  answers(signIn, async (given) => {
    expectConsole(given.headers);
    const { token, key } = given.body;
    if ((token === undefined) === (key === undefined)) throw invalid("Give either a token or a key.");
    const begun = token === undefined ? byKey(given, key!) : byLink(given, token);
    const { caller, secret, until } = begun;
    await given.sessions
      .keep(secret, given.now)
      .catch((cause: unknown) => given.books.report("a sign-in is in memory alone", cause));
    await noted(given, caller, "sign in", { by: token === undefined ? "key" : "link" });
    return {
      json: await sessionOf(given, caller, until),
      headers: { "set-cookie": cookieOf(cookieName(given.headers, given.own.port), secret, given.own.base) },
    };
  }),
  answers(signOut, async (given) => {
    const { headers, own, sessions, session, caller, books, now } = given;
    if (session) return { json: {}, headers: { "set-cookie": await session.end() } };
    const presented = { address: caller.address, policy: books.policy(), now };
    const cookie = sessions.pick(readCookies(headers, own.port), presented)?.cookie;
    if (cookie) {
      await sessions.end(cookie.secret);
      await noted(given, caller, "sign out");
    }
    return {
      json: {},
      headers: { "set-cookie": cookieOf(cookie?.name ?? cookieName(headers, own.port), "", own.base) },
    };
  }),
  answers(makeSignInLink, ({ sessions, now, headers }) => {
    const { token, until } = sessions.addLink(now);
    return { json: { url: `http://${headers.get("host")}/console#t=${token}`, expiresAt: until } };
  }),
];

/** Adds an entry to the audit log. People get in also while the store fails: then the log of the gateway has it. */
async function noted({ books }: Given, { actor, address }: Caller, action: string, facts?: object) {
  await books
    .note({ actor, address }, action, "console", facts)
    .catch((cause: unknown) => books.report(`${action} of ${actor} is in no audit log`, cause));
}

interface Begun {
  caller: Caller;
  secret: string;
  until: number;
}

/** A link has too many bits to be guessed, so an address that waits may use one. @throws AdminError 410, 429 */
function byLink(given: Given, token: string): Begun {
  const { sessions, tries, caller, books, now } = given;
  const begun = sessions.useLink(token, now);
  if (!begun) {
    tries.expectFew(caller.address, now);
    tries.add(caller.address, now);
    throw new AdminError(
      410,
      "link_used",
      "This link does not work any more. `weir console` makes a new one.",
    );
  }
  const found = sessions.find(begun.secret, { address: caller.address, policy: books.policy(), now })!;
  return { ...begun, caller: (found as { caller: Caller }).caller };
}

/** @throws AdminError 401, 403, 429 */
function byKey({ sessions, tries, caller: { address }, books, now, expectKeys }: Given, key: string): Begun {
  expectKeys();
  const known = identify(key, books.policy(), undefined, address, now);
  // As for requests with a key: nobody guesses one that weir made.
  if (!("caller" in known) || !isMade(key)) tries.expectFew(address, now);
  if ("caller" in known) return { ...sessions.begin(digestOf(key), now), caller: known.caller };
  if (known.refused === "call-key")
    throw new AdminError(
      403,
      "forbidden",
      "This key makes calls; signing in needs an admin key (weir_ad_…) or a read key (weir_ro_…).",
    );
  tries.add(address, now);
  const left = tries.leftOf(address, now);
  const wrong = known.refused === "expired" ? "This key has expired" : "Not a key of this gateway";
  const more = `${left} ${left === 1 ? "try" : "tries"} left this minute`;
  throw new AdminError(401, "unauthorized", `${wrong}. ${more}.`);
}

async function sessionOf(
  { books, own }: Given,
  { role, path, actor }: Caller,
  until: number | undefined,
): Promise<Frozen<Session>> {
  const key = books.policy().keys.find(({ id }) => id === actor);
  const gateway = (await books.gateway.reach())?.url;
  return {
    role: role === "read" ? "read" : "admin",
    path,
    actor,
    ...(key && { name: key.name }),
    ...(until !== undefined && { expiresAt: until }),
    version: books.health().version,
    port: own.port,
    ...(gateway !== undefined && { gateway }),
  };
}
