/**
 * Asks providers whether people may still sign in. Who has a refresh token there is asked about from time to time: when the provider
 * refuses it, the sessions and tokens of that person end; else its groups are those of the answer.
 */
import type { PeopleBook } from "../people-book.ts";
import type { Provider } from "./provider.ts";
import type { Claimed, Holder, RefreshBook } from "./refresh-book.ts";
import type { Sealer } from "./sealer.ts";
import type { SessionBook } from "./session-book.ts";
import { GrantRefused, type ProviderTokens } from "./token-endpoint.ts";

/** Longest time of the requests to a provider for one check. Milliseconds. */
const BUDGET_MS = 3_500;
/** How long the last answer of a provider counts while it is away. Milliseconds. */
const COUNTS_MS = 3_600_000;
/** Time after which a session in use is checked, and how it differs between people: else all of a morning would come at once. */
const SESSION_MS = 900_000;
const JITTER = 0.2;
/** A provider that has not answered for a person is not asked again before this time. Milliseconds. */
const PAUSE_MS = 15_000;
/** How often a node looks whether another one has its answer. Milliseconds. */
const LOOK_MS = 150;
const TELL_MS = 60_000;
const MOST_KNOWN = 10_000;

/**
 * `ok`: the person may go on. `refused`: not any more; sessions and tokens have ended. `away`: the provider does not answer, and its
 * last answer is too old. `none`: weir has no refresh token of the person there, so the provider cannot be asked.
 */
export type Checked = "ok" | "refused" | "away" | "none";

export interface RecheckOptions {
  readonly book: RefreshBook;
  readonly people: Pick<PeopleBook, "regroup" | "decide">;
  readonly sessions: Pick<SessionBook, "endOf">;
  readonly providers: ReadonlyMap<string, RecheckedProvider>;
  now(): number;
  /** Logs a sentence as a fault. */
  fault(sentence: string): void;
}

/** A provider, with the key that seals its refresh tokens. */
export interface RecheckedProvider {
  readonly provider: Pick<Provider, "name" | "refresh" | "grantsIn">;
  readonly sealer: Sealer;
}

export class Recheck {
  readonly #options: RecheckOptions;
  readonly #running = new Map<string, Promise<Checked>>();
  /** When providers were asked without an answer, and when they said last that somebody may go on. By holder. */
  readonly #failedAt = new Map<string, number>();
  readonly #toldAt = new Map<string, number>();
  readonly #checkedAt = new Map<string, number>();

  constructor(options: RecheckOptions) {
    this.#options = options;
  }

  /**
   * Somebody has signed in.
   * @param token absent: the provider gave none @returns whether the person can be asked about from now on
   */
  async keep(holder: Holder, token: string | undefined): Promise<boolean> {
    const { book, providers, now } = this.#options;
    const found = providers.get(holder.provider);
    if (found) await book.keep(holder, found.sealer, token, now());
    note(this.#checkedAt, nameOf(holder), now());
    this.#failedAt.delete(nameOf(holder));
    return token !== undefined || (await book.checkedAt(holder)) !== undefined;
  }

  /**
   * Asks the provider, if its last answer is older than a time. It takes some seconds at most; all who ask for one person at the same
   * time wait for one request.
   */
  async check(person: string, provider: string, { olderThanMs }: { olderThanMs: number }): Promise<Checked> {
    const holder = { person, provider };
    const { book, providers, now } = this.#options;
    const at = await book.checkedAt(holder);
    if (at === undefined) return "none";
    const found = providers.get(provider);
    // The operator has removed the provider.
    if (!found) return "refused";
    note(this.#checkedAt, nameOf(holder), at);
    if (now() - at < olderThanMs) return "ok";
    if (now() - (this.#failedAt.get(nameOf(holder)) ?? -Infinity) < PAUSE_MS) return this.#byLast(at);
    const name = nameOf(holder);
    const running = this.#running.get(name);
    if (running) return running;
    const asked = this.#ask(holder, found, now() - olderThanMs).finally(() => this.#running.delete(name));
    this.#running.set(name, asked);
    return asked;
  }

  /**
   * Whether a session may be used. The provider is asked in the background from time to time, and before the answer if the last one
   * is too old.
   * @param checkedAt of the session; undefined: its person has no refresh token
   */
  async admits({ person, provider, checkedAt }: Holder & { checkedAt?: number }): Promise<boolean> {
    if (checkedAt === undefined) return true;
    const at = Math.max(checkedAt, this.#checkedAt.get(nameOf({ person, provider })) ?? 0);
    const age = this.#options.now() - at;
    const olderThanMs = SESSION_MS * (1 + JITTER * (shareOf(person) - 0.5));
    if (age < olderThanMs) return true;
    const checked = this.check(person, provider, { olderThanMs }).catch((cause: Error): Checked => {
      this.#tell(provider, cause.message);
      return "away";
    });
    return age < COUNTS_MS || (await checked) === "ok";
  }

  async #ask(holder: Holder, found: RecheckedProvider, before: number): Promise<Checked> {
    const { book, now } = this.#options;
    const until = now() + BUDGET_MS;
    for (;;) {
      const claimed = await book.claim(holder, found.sealer, before, now());
      if (claimed.is === "own") return this.#spend(holder, found, claimed);
      // Another node has found that the provider refuses it.
      if (claimed.is === "none") return "refused";
      if (claimed.is === "checked") return "ok";
      if (now() >= until) return this.#byLast(claimed.at);
      await Bun.sleep(LOOK_MS);
    }
  }

  async #spend(
    holder: Holder,
    { provider, sealer }: RecheckedProvider,
    { claim, at, token }: Extract<Claimed, { is: "own" }>,
  ): Promise<Checked> {
    const { book, now } = this.#options;
    const signal = AbortSignal.timeout(BUDGET_MS);
    try {
      if (token === undefined)
        throw new GrantRefused("the secret has changed, and does not open the refresh token");
      const tokens = await provider.refresh(token, signal);
      const next = tokens.refreshToken;
      // At once: the one before may be worth nothing any more.
      if (next !== undefined && next !== token) await book.replace(holder, sealer, claim, next);
      await this.#takeOver(holder, provider, tokens, signal);
      await book.release(holder, claim, now());
      note(this.#checkedAt, nameOf(holder), now());
      this.#failedAt.delete(nameOf(holder));
      return "ok";
    } catch (cause) {
      if (cause instanceof GrantRefused) return this.#refuse(holder, claim, cause.message);
      this.#tell(provider.name, (cause as Error).message);
      note(this.#failedAt, nameOf(holder), now());
      await book.release(holder, claim);
      return this.#byLast(at);
    }
  }

  /** Groups may have changed since the sign-in. */
  async #takeOver(
    { person }: Holder,
    provider: RecheckedProvider["provider"],
    tokens: ProviderTokens,
    signal: AbortSignal,
  ): Promise<void> {
    const grants = await provider.grantsIn(tokens, person, signal);
    if (grants) await this.#options.people.regroup({ actor: "identity" }, person, grants);
  }

  /** The person is gone there: deprovisioned, or signed out everywhere. */
  async #refuse(holder: Holder, claim: string, why: string): Promise<Checked> {
    const { book, people, sessions, now, fault } = this.#options;
    // Somebody who has signed in meanwhile has a newer token.
    if (!(await book.holds(holder, claim))) return "ok";
    const { person, provider } = holder;
    fault(`identity: ${provider} does not let ${person} sign in any more: ${why}`);
    await people.decide({ actor: "identity" }, "refused by the provider", person, (former) => ({
      ...former,
      // A token of this very second may be one of those that are meant.
      not_before: Math.max(Number(former.not_before), Math.floor(now() / 1_000) + 1),
    }));
    await sessions.endOf(person, "refused by the provider");
    await book.remove(holder, claim);
    this.#checkedAt.delete(nameOf(holder));
    return "refused";
  }

  /** A provider that is away is so for everybody: one line a minute. */
  #tell(provider: string, why: string): void {
    const { now, fault } = this.#options;
    if (now() - (this.#toldAt.get(provider) ?? -Infinity) < TELL_MS) return;
    note(this.#toldAt, provider, now());
    fault(`identity: ${provider} does not say whether people may still sign in: ${why}`);
  }

  #byLast(at: number): Checked {
    return this.#options.now() - at < COUNTS_MS ? "ok" : "away";
  }
}

const nameOf = ({ person, provider }: Holder) => `${person} ${provider}`;

/** A number from 0 to 1 that a person keeps. */
function shareOf(person: string): number {
  return Number.parseInt(person.slice(-6), 16) / 0xffffff || 0;
}

function note(map: Map<string, number>, name: string, at: number): void {
  map.delete(name);
  map.set(name, at);
  if (map.size > MOST_KNOWN) map.delete(map.keys().next().value!);
}
