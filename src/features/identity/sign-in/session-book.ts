/** Sessions of people in the store: they survive a restart, and all nodes know them. */
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { Actor } from "../../../keeper/store/store.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import { type Grant } from "../groups.ts";
import { type AccessRow, grantsIn } from "../people.ts";
import { randomText } from "./attempt.ts";

/** A session that is not used ends, in each node by its own clock. Milliseconds. */
const IDLE_MS = 7_200_000;
/** How long a node believes what it has read of a session. Milliseconds. */
const FRESH_MS = 900;
const MOST_KNOWN = 10_000;
const MOST_LISTED = 50;
/** Characters of a digest that name a session to its person. */
const ID_LENGTH = 16;

/** The books of the store, which the admin API and the part in the keeper read. */
type Readable = Pick<KeeperHost, "read">;

/** A session, as its person sees it. */
export interface SeenSession {
  readonly id: string;
  readonly provider: string;
  readonly createdAt: number;
  readonly until: number;
  readonly address: string;
  /** Whether it is that of the request. */
  readonly isOwn: boolean;
}

export interface Session {
  readonly person: string;
  readonly name: string;
  readonly provider: string;
  readonly until: number;
  /** Where the person's own calls are booked. */
  readonly path: string;
  readonly grants: readonly Grant[];
  /** When the provider said last that the person may sign in; absent: weir cannot ask it. */
  readonly checkedAt?: number;
}

export interface NewSession {
  readonly person: string;
  readonly provider: string;
  /** As the provider names it. */
  readonly sid: string | undefined;
  readonly until: number;
  readonly now: number;
  /** Sealed. */
  readonly idToken?: string;
}

interface Row {
  readonly person: string;
  readonly name: string;
  readonly provider: string;
  readonly until_at: number | string;
  readonly path: string;
  readonly own_path: string | null;
  readonly status: AccessRow["status"] | null;
  readonly grants: string | null;
  readonly checked_at: number | string | null;
}

interface ListedRow {
  readonly hash: string;
  readonly provider: string;
  readonly created: number | string;
  readonly until_at: number | string;
  readonly address: string;
}

interface Known {
  session: Session | undefined;
  readAt: number;
  usedAt: number;
}

export class SessionBook {
  readonly #host: Pick<KeeperHost, "change" | "read">;
  readonly #known = new Map<string, Known>();

  constructor(host: Pick<KeeperHost, "change" | "read">) {
    this.#host = host;
  }

  /** @returns the secret of a new session */
  async begin(actor: Actor, { person, provider, sid, until, now, idToken }: NewSession): Promise<string> {
    const secret = randomText();
    await this.#host.change(actor, "sign in", `people/${person}`, async (sql) => {
      await sql.run("DELETE FROM identity_sessions WHERE until_at < $1", [now]);
      await sql.run(
        `INSERT INTO identity_sessions (hash, person, provider, sid, created, until_at, address, id_token)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [digestOf(secret), person, provider, sid ?? null, now, until, actor.address ?? "", idToken ?? null],
      );
      return { before: null, after: { provider } };
    });
    return secret;
  }

  /** Who has a session. What another node has ended is ended here within a second. */
  async find(books: Readable, secret: string, now: number): Promise<Session | undefined> {
    if (secret.length !== 43) return undefined;
    const hash = digestOf(secret);
    const known = this.#known.get(hash);
    if (known && now - known.readAt < FRESH_MS) return this.#used(known, now);
    const session = await this.#read(books, hash, now);
    const found = { session, readAt: now, usedAt: known?.usedAt ?? now };
    this.#known.delete(hash);
    this.#known.set(hash, found);
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    return this.#used(found, now);
  }

  /** The sealed ID token of a session; undefined if there is none. */
  async idTokenOf(secret: string): Promise<string | undefined> {
    const [row] = await this.#host.read((sql) =>
      sql.all<{ id_token: string | null }>("SELECT id_token FROM identity_sessions WHERE hash = $1", [
        digestOf(secret),
      ]),
    );
    return row?.id_token ?? undefined;
  }

  /** Whether a session that was found goes on; what is older than a second is read again for the next question. */
  isCurrent(books: Readable, secret: string, now: number): boolean {
    const known = this.#known.get(digestOf(secret));
    if (!known || now - known.readAt >= FRESH_MS) void this.find(books, secret, now).catch(() => {});
    return known?.session !== undefined && now < known.session.until;
  }

  /** Ends the session with a secret. */
  async end(actor: Actor, secret: string): Promise<void> {
    const hash = digestOf(secret);
    await this.#delete(actor, "sign out", "hash = $1", [hash]);
  }

  /** Ends sessions of a person, or the one that the provider names so. */
  async endAt(provider: string, { person, sid }: { person?: string; sid?: string }): Promise<void> {
    const [condition, value] = sid === undefined ? ["person = $2", person!] : ["sid = $2", sid];
    await this.#delete(
      { actor: "identity" },
      "signed out by the provider",
      `provider = $1 AND ${condition}`,
      [provider, value],
    );
  }

  /** The sessions of a person, the newest first. @param secret of the one that asks */
  listOf(books: Readable, person: string, secret: string, now: number): Promise<SeenSession[]> {
    const own = digestOf(secret);
    return books.read(async (sql) => {
      const rows = await sql.all<ListedRow>(
        `SELECT hash, provider, created, until_at, address FROM identity_sessions WHERE person = $1 AND until_at > $2
         ORDER BY created DESC LIMIT ${MOST_LISTED}`,
        [person, now],
      );
      return rows.map(({ hash, provider, created, until_at: until, address }) => ({
        ...{ id: hash.slice(0, ID_LENGTH), provider, address, isOwn: hash === own },
        ...{ createdAt: Number(created), until: Number(until) },
      }));
    });
  }

  /** Ends one session of a person by its id. */
  async endOne(actor: Actor, person: string, id: string): Promise<void> {
    if (/^[0-9a-f]{16}$/.test(id))
      await this.#delete(actor, "session ended", `person = $1 AND hash LIKE $2`, [person, `${id}%`]);
  }

  /** Ends all sessions of a person. @param action why, for the audit log */
  async endOf(person: string, action: string): Promise<void> {
    await this.#delete({ actor: "identity" }, action, "person = $1", [person]);
  }

  async #delete(actor: Actor, action: string, condition: string, values: readonly string[]): Promise<void> {
    await this.#host.change(actor, action, "sessions", async (sql) => {
      const ended = await sql.run(`DELETE FROM identity_sessions WHERE ${condition}`, values);
      return { before: null, after: { ended } };
    });
    this.#known.clear();
  }

  #used(known: Known, now: number): Session | undefined {
    if (known.session === undefined || known.session.until <= now || now - known.usedAt > IDLE_MS)
      return undefined;
    known.usedAt = now;
    return known.session;
  }

  #read(books: Readable, hash: string, now: number): Promise<Session | undefined> {
    return books.read(async (sql) => {
      const [row] = await sql.all<Row>(
        `SELECT s.person, p.name, s.provider, s.until_at, p.path, a.path AS own_path, a.status, a.grants, t.checked_at
         FROM identity_sessions s JOIN identity_people p ON p.id = s.person
         LEFT JOIN identity_access a ON a.id = s.person AND a.deleted_at IS NULL
         LEFT JOIN identity_provider_tokens t ON t.person = s.person AND t.provider = s.provider
         WHERE s.hash = $1 AND s.until_at > $2`,
        [hash, now],
      );
      if (!row || (row.status !== null && row.status !== "active")) return undefined;
      const { person, name, provider, path, own_path: ownPath, grants, checked_at: checkedAt } = row;
      return {
        ...{ person, name, provider, until: Number(row.until_at), path: ownPath ?? path },
        grants: grants === null ? [] : grantsIn({ grants }),
        ...(checkedAt !== null && { checkedAt: Number(checkedAt) }),
      };
    });
  }
}
