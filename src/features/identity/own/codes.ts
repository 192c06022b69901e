/** Authorization codes (RFC 6749 4.1, with PKCE of RFC 7636), and what people have permitted to programs. */
import type { KeeperHost } from "../../../keeper/seams.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import { randomText } from "../sign-in/attempt.ts";
import type { Approval, Families } from "./families.ts";
import type { Polled } from "./devices.ts";
import { OAuthError } from "./oauth.ts";
import { isNarrower, joined } from "./scope.ts";

/** Life of a code, and of a consent. Milliseconds. */
const CODE_MS = 60_000;
const CONSENT_MS = 90 * 86_400_000;
const KEPT_MS = 86_400_000;

/** What a code is bound to. */
export interface CodeBinding extends Approval {
  readonly redirect: string;
  /** `code_challenge`, S256. */
  readonly challenge: string;
}

interface Row extends CodeBinding {
  readonly until_at: number;
  readonly family: string | null;
}

export interface CodesOptions {
  readonly host: Pick<KeeperHost, "read" | "write">;
  readonly families: Families;
  now(): number;
}

export class Codes {
  readonly #options: CodesOptions;

  constructor(options: CodesOptions) {
    this.#options = options;
  }

  /** @returns the code */
  make({ client, redirect, challenge, person, provider, scope, audience }: CodeBinding): Promise<string> {
    const { host, now } = this.#options;
    const code = `weir_ac_${randomText()}`;
    return host.write(async (sql) => {
      await sql.run("DELETE FROM identity_codes WHERE until_at < $1", [now() - KEPT_MS]);
      await sql.run(
        `INSERT INTO identity_codes (hash, client, redirect, challenge, person, provider, scope, audience, until_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          ...[digestOf(code), client, redirect, challenge, person, provider, scope, audience],
          now() + CODE_MS,
        ],
      );
      return code;
    });
  }

  /** Exchanges a code, once. @param resource of the request, if it names one @throws OAuthError */
  exchange(
    code: string,
    given: { client: string; redirect: string; verifier: string; audience: string | undefined },
  ): Promise<Polled> {
    const { host, families, now } = this.#options;
    const hash = digestOf(code);
    const wrong = (sentence: string) => new OAuthError("invalid_grant", sentence);
    return host.write(async (sql) => {
      const [row] = await sql.all<Row>(
        `SELECT client, redirect, challenge, person, provider, scope, audience, until_at, family FROM identity_codes WHERE hash = $1`,
        [hash],
      );
      if (!row) throw wrong("There is no such code.");
      if (row.client !== given.client) throw wrong("The code is one of another client.");
      if (row.family !== null) return { spentOn: row.family };
      if (row.until_at <= now()) throw wrong("The code has expired.");
      if (row.redirect !== given.redirect) throw wrong("The redirect_uri is not that of the request.");
      const challenge = new Bun.CryptoHasher("sha256").update(given.verifier).digest("base64url");
      if (challenge !== row.challenge) throw wrong("The code_verifier does not fit the code_challenge.");
      if (given.audience !== undefined && given.audience !== row.audience)
        throw new OAuthError("invalid_target", "The resource is not that of the request for the code.");
      // The row of a code that two requests have is changed by one of them.
      const won = await sql.run("UPDATE identity_codes SET family = '' WHERE hash = $1 AND family IS NULL", [
        hash,
      ]);
      if (won === 0) return { spentOn: undefined };
      const begun = await families.begin(sql, row);
      await sql.run("UPDATE identity_codes SET family = $2 WHERE hash = $1", [hash, begun.family.id]);
      return begun;
    });
  }

  /** Whether a person has permitted a program all that a scope says. */
  hasConsent(person: string, client: string, scope: string): Promise<boolean> {
    const { host, now } = this.#options;
    return host.read(async (sql) => {
      const [row] = await sql.all<{ scope: string }>(
        "SELECT scope FROM identity_consents WHERE person = $1 AND client = $2 AND until_at > $3",
        [person, client, now()],
      );
      return row !== undefined && isNarrower(scope, row.scope);
    });
  }

  async consent(person: string, client: string, scope: string): Promise<void> {
    const { host, now } = this.#options;
    await host.write(async (sql) => {
      // A program that asks for tools with one token and for models with another does not ask its person in turns.
      const [former] = await sql.all<{ scope: string }>(
        "SELECT scope FROM identity_consents WHERE person = $1 AND client = $2 AND until_at > $3",
        [person, client, now()],
      );
      await sql.run(
        `INSERT INTO identity_consents (person, client, scope, until_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (person, client) DO UPDATE SET scope = excluded.scope, until_at = excluded.until_at`,
        [person, client, former ? joined(former.scope, scope) : scope, now() + CONSENT_MS],
      );
    });
  }
}
