/**
 * Sessions of the console. A browser gets one for a sign-in link, which works once, or for a key, and then only while the key
 * does. They are kept in the store, so that they survive a restart and other nodes know them. Links are in memory.
 */
import { digestOf } from "../../ledger/keys/form.ts";
import type { Policy } from "../../ledger/policy.ts";
import { type Caller, identifyDigest, type Known } from "../callers.ts";
import { AdminError } from "../../operator/errors.ts";
import { type Cookie, SESSION_MS } from "./cookie.ts";

/** How long a link works. Milliseconds. */
export const LINK_MS = 600_000;
/** The oldest are forgotten beyond it. */
const MOST_LINKS = 100;
const MOST_SESSIONS = 1_000;
/** How long what was read of a session is believed: another node may have ended it. Milliseconds. */
const FRESH_MS = 1_000;
/** Characters of a secret. */
const LENGTH = 43;

/** The actor of sessions that began with a link. */
export const CONSOLE = "console";

interface Link {
  until: number;
  isUsed: boolean;
}

export interface Session {
  /** Digest of the key; absent for a link. */
  sha256?: string;
  until: number;
}

/** Sessions by the digests of their secrets. Each function throws if the store fails. */
export interface KeptSessions {
  /** @param now milliseconds since 1970: what ended before it may be deleted */
  save(hash: string, session: Session, now: number): Promise<void>;
  read(hash: string): Promise<Session | undefined>;
  delete(hash: string): Promise<void>;
}

interface Remembered extends Session {
  /** When the store had it; absent: it has never been there. */
  readAt?: number;
}

/** The credential that a browser has presented. */
export interface Presented {
  address: string;
  policy: Pick<Policy, "keys">;
  /** Milliseconds since 1970. */
  now: number;
}

export class Sessions {
  /** By the digests of their secrets, the oldest first. */
  readonly #links = new Map<string, Link>();
  readonly #sessions = new Map<string, Remembered>();
  readonly #kept: KeptSessions | undefined;

  /** @param kept where they last; absent: they end with the keeper */
  constructor(kept?: KeptSessions) {
    this.#kept = kept;
  }

  /** @returns the token of a new link */
  addLink(now: number): { token: string; until: number } {
    const token = secret();
    const until = now + LINK_MS;
    add(this.#links, token, { until, isUsed: false }, MOST_LINKS);
    return { token, until };
  }

  /** Trades the token of a link for a session. @returns its secret; undefined if there is no such link @throws AdminError 410 */
  useLink(token: string, now: number): { secret: string; until: number } | undefined {
    const link = this.#links.get(digestOf(token));
    if (!link) return undefined;
    if (link.isUsed) throw gone("This link was used already. `weir console` makes a new one.");
    if (link.until <= now) throw gone("This link has expired. `weir console` makes a new one.");
    link.isUsed = true;
    return this.#begin({}, now);
  }

  /** @param sha256 digest of a key that was checked */
  begin(sha256: string, now: number): { secret: string; until: number } {
    return this.#begin({ sha256 }, now);
  }

  /** Writes a session that has just begun to the store. @throws AdminError 503; then it ends with the keeper */
  async keep(text: string, now: number): Promise<void> {
    const hash = digestOf(text);
    const session = this.#sessions.get(hash);
    if (!session || !this.#kept) return;
    await this.#kept.save(hash, session, now);
    session.readAt = now;
  }

  /** Reads what {@link find} needs to know of a session. @throws AdminError 503 if it is unknown here and the store fails */
  async recall(text: string, now: number): Promise<void> {
    if (!this.#kept || text.length !== LENGTH) return;
    const hash = digestOf(text);
    const known = this.#sessions.get(hash);
    if (known && (known.readAt === undefined || now - known.readAt < FRESH_MS)) return;
    try {
      const session = await this.#kept.read(hash);
      if (session) addByHash(this.#sessions, hash, { ...session, readAt: now }, MOST_SESSIONS);
      else this.#sessions.delete(hash);
    } catch (cause) {
      // Who was signed in stays so while the store is away.
      if (!known) throw cause;
    }
  }

  /** The first of some cookies that is a session; one whose key has ended if there is no other. */
  pick(
    cookies: readonly Cookie[],
    given: Presented,
  ): (Known & { until: number; cookie: Cookie }) | undefined {
    const found = cookies.flatMap((cookie) => {
      const session = this.find(cookie.secret, given);
      return session ? [{ ...session, cookie }] : [];
    });
    return found.find((session) => "caller" in session) ?? found[0];
  }

  /** @returns who has the session; undefined if there is none */
  find(text: string, { address, policy, now }: Presented): (Known & { until: number }) | undefined {
    const session = this.#sessions.get(digestOf(text));
    if (!session || session.until <= now) return undefined;
    const { sha256, until } = session;
    if (sha256 === undefined) return { caller: callerOf(address), until };
    return { ...identifyDigest(sha256, policy, address, now), until };
  }

  /** @throws AdminError 503 if the store fails; then the session goes on */
  async end(text: string): Promise<void> {
    const hash = digestOf(text);
    await this.#kept?.delete(hash);
    this.#sessions.delete(hash);
  }

  #begin(session: Omit<Session, "until">, now: number): { secret: string; until: number } {
    const text = secret();
    const until = now + SESSION_MS;
    add(this.#sessions, text, { ...session, until }, MOST_SESSIONS);
    return { secret: text, until };
  }
}

function callerOf(address: string): Caller {
  return { actor: CONSOLE, address, role: "admin", path: "/", scopes: {} };
}

function secret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

function gone(message: string): AdminError {
  return new AdminError(410, "link_used", message);
}

function add<Value>(map: Map<string, Value>, text: string, value: Value, most: number): void {
  addByHash(map, digestOf(text), value, most);
}

function addByHash<Value>(map: Map<string, Value>, hash: string, value: Value, most: number): void {
  map.set(hash, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}
