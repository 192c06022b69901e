/** Devices that wait until a person approves them (RFC 8628). */
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import { randomText } from "../sign-in/attempt.ts";
import type { Approval, Families, Family } from "./families.ts";
import { OAuthError } from "./oauth.ts";

/** Life of a code, as RFC 8628 calls it `expires_in`, and the time between two polls. Seconds. */
export const DEVICE_SECONDS = 600;
export const POLL_SECONDS = 5;
const KEPT_MS = 86_400_000;
/** Most devices that wait. */
const MOST_OPEN = 10_000;
const MOST_POLLED = 20_000;

/** Letters that are read aloud without doubt, and make no words. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_LENGTH = 8;

/** A device as the person sees it. */
export interface Device {
  readonly userCode: string;
  readonly client: string;
  readonly scope: string;
  /** Of the device. */
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly created: number;
}

interface Row {
  readonly hash: string;
  readonly client: string;
  readonly scope: string;
  readonly state: "open" | "granted" | "spent" | "denied";
  readonly person: string | null;
  readonly provider: string | null;
  readonly family: string | null;
  readonly address: string;
  readonly created: number | string;
  readonly until_at: number | string;
}

export interface DevicesOptions {
  readonly host: Pick<KeeperHost, "read" | "write">;
  readonly families: Families;
  /** Audience of the tokens. */
  readonly audience: string;
  now(): number;
}

/** What a poll finds: tokens, or that the code was spent before, which ends what it was spent on. */
export type Polled =
  { readonly family: Family; readonly refresh: string } | { readonly spentOn: string | undefined };

export class Devices {
  readonly #options: DevicesOptions;
  /** Last polls at this node, by the hash of the code. */
  readonly #polls = new Map<string, { at: number; seconds: number }>();

  constructor(options: DevicesOptions) {
    this.#options = options;
  }

  /** @throws OAuthError 503 while too many wait */
  begin(client: string, scope: string, address: string): Promise<{ deviceCode: string; userCode: string }> {
    const { host, now } = this.#options;
    return host.write(async (sql) => {
      const at = now();
      await sql.run("DELETE FROM identity_devices WHERE until_at < $1", [at - KEPT_MS]);
      const [open] = await sql.all<{ count: number | string }>(
        "SELECT COUNT(*) AS count FROM identity_devices WHERE until_at > $1 AND state = 'open'",
        [at],
      );
      if (Number(open?.count ?? 0) >= MOST_OPEN)
        throw new OAuthError("temporarily_unavailable", "Too many devices wait; retry in a minute.", 503);
      const deviceCode = randomText();
      const userCode = makeCode();
      await sql.run(
        `INSERT INTO identity_devices (hash, user_code, client, scope, state, address, created, until_at)
         VALUES ($1, $2, $3, $4, 'open', $5, $6, $7)`,
        [digestOf(deviceCode), userCode, client, scope, address, at, at + DEVICE_SECONDS * 1_000],
      );
      return { deviceCode, userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}` };
    });
  }

  /** A device that waits, by the code that it shows. */
  find(typed: string): Promise<Device | undefined> {
    const { host, now } = this.#options;
    const userCode = normalized(typed);
    if (userCode === undefined) return Promise.resolve(undefined);
    return host.read(async (sql) => {
      const [row] = await sql.all<Row>(
        "SELECT client, scope, address, created FROM identity_devices WHERE user_code = $1 AND state = 'open' AND until_at > $2",
        [userCode, now()],
      );
      if (!row) return undefined;
      const { client, scope, address, created } = row;
      return { userCode, client, scope, address, created: Number(created) };
    });
  }

  /** @returns whether the device still waited */
  decide(userCode: string, who: { person: string; provider: string } | undefined): Promise<boolean> {
    const { host, now } = this.#options;
    return host.write(async (sql) => {
      const decided = await sql.run(
        `UPDATE identity_devices SET state = $2, person = $3, provider = $4
         WHERE user_code = $1 AND state = 'open' AND until_at > $5`,
        [userCode, who ? "granted" : "denied", who?.person ?? null, who?.provider ?? null, now()],
      );
      return decided > 0;
    });
  }

  /** @throws OAuthError while the person has not approved, or never will */
  async poll(deviceCode: string): Promise<Polled> {
    const { host, now } = this.#options;
    const hash = digestOf(deviceCode);
    const polled = await host.write((sql) => this.#take(sql, hash));
    if (polled === "unknown") throw new OAuthError("invalid_grant", "There is no such device code.");
    if (polled === "expired") throw new OAuthError("expired_token", "The device code has expired.");
    if (polled === "denied") throw new OAuthError("access_denied", "The person has refused.");
    if (polled !== "open") return polled;
    throw this.#isEarly(hash, now())
      ? new OAuthError("slow_down", "The device asks too often.")
      : new OAuthError("authorization_pending", "The person has not decided yet.");
  }

  async #take(sql: Sql, hash: string): Promise<Polled | "unknown" | "expired" | "denied" | "open"> {
    const { families, audience, now } = this.#options;
    const [row] = await sql.all<Row>(
      "SELECT hash, client, scope, state, person, provider, family, until_at FROM identity_devices WHERE hash = $1",
      [hash],
    );
    if (!row) return "unknown";
    const { state, client, scope, person, provider } = row;
    if (state === "spent") return { spentOn: row.family ?? undefined };
    if (state === "denied") return "denied";
    if (Number(row.until_at) <= now()) return "expired";
    if (state === "open") return "open";
    // Of two polls at once, one gets the tokens.
    const won = await sql.run(
      "UPDATE identity_devices SET state = 'spent' WHERE hash = $1 AND state = 'granted'",
      [hash],
    );
    if (won === 0) return { spentOn: undefined };
    const approval: Approval = { person: person!, provider: provider!, client, scope, audience };
    const begun = await families.begin(sql, approval);
    await sql.run("UPDATE identity_devices SET family = $2 WHERE hash = $1", [hash, begun.family.id]);
    return begun;
  }

  /** RFC 8628 3.5: a client that asks too early has to wait five seconds more from then on. */
  #isEarly(hash: string, now: number): boolean {
    const last = this.#polls.get(hash);
    const isEarly = last !== undefined && now - last.at < last.seconds * 1_000;
    const seconds = (last?.seconds ?? POLL_SECONDS) + (isEarly ? POLL_SECONDS : 0);
    this.#polls.delete(hash);
    this.#polls.set(hash, { at: now, seconds });
    if (this.#polls.size > MOST_POLLED) this.#polls.delete(this.#polls.keys().next().value!);
    return isEarly;
  }
}

function makeCode(): string {
  let code = "";
  while (code.length < CODE_LENGTH)
    for (const byte of crypto.getRandomValues(new Uint8Array(16)))
      // 240 is the largest multiple of 20: no letter is likelier than another.
      if (byte < 240 && code.length < CODE_LENGTH) code += LETTERS[byte % LETTERS.length];
  return code;
}

/** A code as people type it: small letters, spaces, with or without the dash. @returns undefined for what cannot be one */
function normalized(typed: string): string | undefined {
  const code = typed
    .slice(0, 40)
    .toUpperCase()
    .replace(/[^A-Z]/g, "");
  return code.length === CODE_LENGTH && [...code].every((letter) => LETTERS.includes(letter))
    ? code
    : undefined;
}
