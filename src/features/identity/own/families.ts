/**
 * Families of tokens: what follows from one approval. A refresh token is exchanged once for the next one, which follows from it and
 * the secret, so a client whose answer was lost gets the same one again, and two processes of a client do not end each other.
 */
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import type { Actor } from "../../../keeper/store/store.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import type { PeopleBook } from "../people-book.ts";
import { randomText } from "../sign-in/attempt.ts";
import type { Mac } from "./mac.ts";

/** How long a refresh token may be exchanged again, for a client whose answer was lost. Milliseconds. */
const AGAIN_MS = 30_000;
/** How long what is over stays in the store. Milliseconds. */
const KEPT_MS = 7 * 86_400_000;

const PREFIX = "weir_rt_";

/** What a person has approved. */
export interface Approval {
  readonly person: string;
  /** Name of the provider at which the person is signed in. */
  readonly provider: string;
  readonly client: string;
  readonly scope: string;
  /** Claim `aud` of its access tokens. */
  readonly audience: string;
}

export interface Family extends Approval {
  /** `fam_…` */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly created: number;
}

interface Row extends Approval {
  readonly id: string;
  readonly created: number | string;
  readonly revoked: number | string | null;
  readonly used_at: number | string | null;
  readonly until_at: number | string;
}

/** A refresh token that was found. `dead`: it ends its family, since it was exchanged long ago; undefined: it may be exchanged. */
export interface FoundToken {
  readonly family: Family;
  readonly dead?: "revoked" | "expired" | "reused";
}

export interface FamiliesOptions {
  readonly host: Pick<KeeperHost, "read" | "write">;
  readonly people: Pick<PeopleBook, "decide">;
  readonly mac: Mac;
  /** Life of a refresh token. Milliseconds. */
  readonly refreshMs: number;
  now(): number;
}

export class Families {
  readonly #options: FamiliesOptions;

  constructor(options: FamiliesOptions) {
    this.#options = options;
  }

  /** Begins a family in a transaction of the caller. @returns it, with its first refresh token */
  async begin(sql: Sql, approval: Approval): Promise<{ family: Family; refresh: string }> {
    const { now } = this.#options;
    const at = now();
    const family = { ...approval, id: `fam_${randomText().slice(0, 32)}`, created: at };
    const { person, provider, client, scope, audience } = approval;
    await this.#sweep(sql, at);
    await sql.run(
      `INSERT INTO identity_families (id, person, provider, client, scope, audience, created) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [family.id, person, provider, client, scope, audience, at],
    );
    const refresh = PREFIX + randomText();
    await this.#add(sql, refresh, family.id);
    return { family, refresh };
  }

  /** @returns undefined for a text that is none of weir's refresh tokens */
  find(token: string): Promise<FoundToken | undefined> {
    if (!token.startsWith(PREFIX)) return Promise.resolve(undefined);
    const { host, now } = this.#options;
    return host.read(async (sql) => {
      const row = await findRow(sql, token);
      if (!row) return undefined;
      const { id, person, provider, client, scope, audience, created } = row;
      const family = { id, person, provider, client, scope, audience, created: Number(created) };
      const dead = endOf(row, now());
      return { family, ...(dead && { dead }) };
    });
  }

  /** Exchanges a token for the next one. @returns undefined if that was done long ago, which ends the family */
  rotate(token: string): Promise<string | undefined> {
    const { host, now, mac } = this.#options;
    return host.write(async (sql) => {
      const at = now();
      const next = PREFIX + mac.of("next refresh token", token);
      const won = await sql.run(
        "UPDATE identity_refresh SET used_at = $2 WHERE hash = $1 AND used_at IS NULL",
        [digestOf(token), at],
      );
      const row = await findRow(sql, token);
      if (!row || endOf(row, at)) return undefined;
      if (won > 0) await this.#add(sql, next, row.id);
      return next;
    });
  }

  /** Refuses all tokens of a family. When it is done, all workers have been told. @param reason for the audit log */
  async revoke(actor: Actor, id: string, reason: string): Promise<void> {
    const { host, people, now } = this.#options;
    await host.write((sql) =>
      sql.run("UPDATE identity_families SET revoked = $2, reason = $3 WHERE id = $1 AND revoked IS NULL", [
        ...[id, now(), reason],
      ]),
    );
    await people.decide(actor, `tokens revoked: ${reason}`, id, (former) => ({
      ...former,
      status: "revoked",
    }));
  }

  async #add(sql: Sql, token: string, family: string): Promise<void> {
    const { now, refreshMs } = this.#options;
    await sql.run(
      "INSERT INTO identity_refresh (hash, family, created, until_at) VALUES ($1, $2, $3, $4) ON CONFLICT (hash) DO NOTHING",
      [digestOf(token), family, now(), now() + refreshMs],
    );
  }

  /** Deletes what has expired. */
  async #sweep(sql: Sql, at: number): Promise<void> {
    await sql.run("DELETE FROM identity_refresh WHERE until_at < $1", [at - KEPT_MS]);
    await sql.run(
      "DELETE FROM identity_families WHERE created < $1 AND id NOT IN (SELECT family FROM identity_refresh)",
      [at - KEPT_MS],
    );
  }
}

function endOf({ revoked, used_at: used, until_at: until }: Row, now: number): FoundToken["dead"] {
  if (revoked !== null) return "revoked";
  if (Number(until) <= now) return "expired";
  return used !== null && now - Number(used) > AGAIN_MS ? "reused" : undefined;
}

async function findRow(sql: Sql, token: string): Promise<Row | undefined> {
  const [row] = await sql.all<Row>(
    `SELECT f.id, f.person, f.provider, f.client, f.scope, f.audience, f.created, f.revoked, r.used_at, r.until_at
     FROM identity_refresh r JOIN identity_families f ON f.id = r.family WHERE r.hash = $1`,
    [digestOf(token)],
  );
  return row;
}
