/**
 * Sessions of the console, in memory: a restart of the keeper ends them. A browser gets one for a sign-in link, which works once,
 * or for a key, and then only while the key does.
 */
import { digestOf } from "../../ledger/keys/form.ts";
import type { Policy } from "../../ledger/policy.ts";
import { type Caller, identifyDigest, type Known } from "../callers.ts";
import { AdminError } from "../../operator/errors.ts";

/** How long a link works, and a session. Milliseconds. */
export const LINK_MS = 600_000;
export const SESSION_MS = 12 * 3_600_000;
/** The oldest are forgotten beyond it. */
const MOST_LINKS = 100;
const MOST_SESSIONS = 1_000;

/** The actor of sessions that began with a link. */
export const CONSOLE = "console";

interface Link {
  until: number;
  isUsed: boolean;
}

interface Session {
  /** Digest of the key; absent for a link. */
  sha256?: string;
  until: number;
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
  readonly #sessions = new Map<string, Session>();

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

  /** @returns who has the session; undefined if there is none */
  find(text: string, { address, policy, now }: Presented): (Known & { until: number }) | undefined {
    const session = this.#sessions.get(digestOf(text));
    if (!session || session.until <= now) return undefined;
    const { sha256, until } = session;
    if (sha256 === undefined) return { caller: callerOf(address), until };
    return { ...identifyDigest(sha256, policy, address, now), until };
  }

  end(text: string): void {
    this.#sessions.delete(digestOf(text));
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
  map.set(digestOf(text), value);
  if (map.size > most) map.delete(map.keys().next().value!);
}
