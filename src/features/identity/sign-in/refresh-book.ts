/** Refresh tokens of providers in the store: one of a person at a provider, sealed. A claim lets one node at a time spend it. */
import { isSealed, rowOf } from "../../../core/envelope.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import { randomText } from "./attempt.ts";
import type { Sealer } from "./sealer.ts";

/** A node that has not come back with an answer after this time has ended. Milliseconds; clocks of nodes may differ by seconds. */
const CLAIM_MS = 20_000;
/** Tokens that were not used for so long are removed: most providers have forgotten them before. Milliseconds. */
const UNUSED_MS = 90 * 86_400_000;

/** Whose token it is. */
export interface Holder {
  readonly person: string;
  readonly provider: string;
}

interface Row {
  readonly sealed: string;
  readonly checked_at: number | string;
  readonly claim_until: number | string;
}

/** What a node that wants to ask the provider finds. */
export type Claimed =
  | { readonly is: "none" }
  /** The provider was asked in the meantime. */
  | { readonly is: "checked"; readonly at: number }
  /** Another node asks at this moment. */
  | { readonly is: "busy"; readonly at: number }
  /** `token` is undefined if the key does not open it. */
  | { readonly is: "own"; readonly claim: string; readonly at: number; readonly token: string | undefined };

type BookHost = Pick<KeeperHost, "read" | "write" | "envelope">;

export class RefreshBook {
  readonly #host: BookHost;

  constructor(host: BookHost) {
    this.#host = host;
  }

  /** Somebody has signed in. @param token absent: the provider gave none this time, and the earlier one goes on */
  async keep(
    { person, provider }: Holder,
    sealer: Sealer,
    token: string | undefined,
    now: number,
  ): Promise<void> {
    const sealed = token === undefined ? undefined : await this.#seal({ person, provider }, sealer, token);
    await this.#host.write(async (sql) => {
      await sql.run("DELETE FROM identity_provider_tokens WHERE checked_at < $1", [now - UNUSED_MS]);
      if (sealed === undefined)
        await sql.run(
          "UPDATE identity_provider_tokens SET checked_at = $3 WHERE person = $1 AND provider = $2",
          [person, provider, now],
        );
      // Without its claim a node that asks with the earlier token at this moment does not write over this one.
      else
        await sql.run(
          `INSERT INTO identity_provider_tokens (person, provider, sealed, checked_at, claim, claim_until)
           VALUES ($1, $2, $3, $4, NULL, 0) ON CONFLICT (person, provider) DO UPDATE SET sealed = excluded.sealed,
           checked_at = excluded.checked_at, claim = NULL, claim_until = 0`,
          [person, provider, sealed, now],
        );
    });
  }

  /** When the provider said last that the person may sign in; undefined: there is no token to ask it with. */
  async checkedAt(holder: Holder): Promise<number | undefined> {
    const row = await this.#host.read((sql) => readRow(sql, holder));
    return row && Number(row.checked_at);
  }

  /** Takes the token, if it was checked before `before`. */
  async claim(holder: Holder, sealer: Sealer, before: number, now: number): Promise<Claimed> {
    const claim = randomText();
    const { person, provider } = holder;
    const { row, isOwn } = await this.#host.write(async (sql) => {
      const taken = await sql.run(
        `UPDATE identity_provider_tokens SET claim = $3, claim_until = $4
         WHERE person = $1 AND provider = $2 AND checked_at <= $5 AND claim_until <= $6`,
        [person, provider, claim, now + CLAIM_MS, before, now],
      );
      return { row: await readRow(sql, holder), isOwn: taken === 1 };
    });
    if (!row) return { is: "none" };
    const at = Number(row.checked_at);
    if (isOwn) return { is: "own", claim, at, token: await this.#unseal(holder, sealer, row.sealed) };
    return { is: at > before ? "checked" : "busy", at };
  }

  /** Writes down the token that the provider gave for the one that was spent. */
  async replace(holder: Holder, sealer: Sealer, claim: string, token: string): Promise<void> {
    const { person, provider } = holder;
    const sealed = await this.#seal(holder, sealer, token);
    await this.#host.write((sql) =>
      sql.run(
        "UPDATE identity_provider_tokens SET sealed = $4 WHERE person = $1 AND provider = $2 AND claim = $3",
        [person, provider, claim, sealed],
      ),
    );
  }

  /** Gives the token back. @param checkedAt absent: the provider has not answered */
  async release({ person, provider }: Holder, claim: string, checkedAt?: number): Promise<void> {
    await this.#host.write((sql) =>
      sql.run(
        `UPDATE identity_provider_tokens SET claim = NULL, claim_until = 0, checked_at = coalesce($4, checked_at)
         WHERE person = $1 AND provider = $2 AND claim = $3`,
        [person, provider, claim, checkedAt ?? null],
      ),
    );
  }

  /** By the key of the store; without one, by that of the provider's secret, which all nodes share as well. */
  async #seal({ person, provider }: Holder, sealer: Sealer, token: string): Promise<string> {
    const envelope = this.#host.envelope();
    return envelope?.seal(token, rowFor(person, provider)) ?? sealer.seal(token, `${person} ${provider}`);
  }

  async #unseal({ person, provider }: Holder, sealer: Sealer, sealed: string): Promise<string | undefined> {
    if (isSealed(sealed)) return this.#host.envelope()?.open(sealed, rowFor(person, provider));
    return sealer.unseal(sealed, `${person} ${provider}`);
  }

  /** Whether a claim still holds: not, if the person has signed in again since. */
  async holds({ person, provider }: Holder, claim: string): Promise<boolean> {
    const held = await this.#host.write((sql) =>
      sql.run(
        "UPDATE identity_provider_tokens SET claim = $3 WHERE person = $1 AND provider = $2 AND claim = $3",
        [person, provider, claim],
      ),
    );
    return held === 1;
  }

  /** Removes a token that the provider has refused. */
  async remove({ person, provider }: Holder, claim: string): Promise<void> {
    await this.#host.write((sql) =>
      sql.run("DELETE FROM identity_provider_tokens WHERE person = $1 AND provider = $2 AND claim = $3", [
        person,
        provider,
        claim,
      ]),
    );
  }
}

async function readRow(
  sql: Parameters<Parameters<KeeperHost["read"]>[0]>[0],
  { person, provider }: Holder,
): Promise<Row | undefined> {
  const [row] = await sql.all<Row>(
    "SELECT sealed, checked_at, claim_until FROM identity_provider_tokens WHERE person = $1 AND provider = $2",
    [person, provider],
  );
  return row;
}

function rowFor(person: string, provider: string): string {
  return rowOf("identity_provider_tokens", "sealed", [person, provider]);
}
