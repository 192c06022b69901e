/** What people do about themselves: one place for the page without script and for the operations of the admin API. */
import type { AdminBooks } from "../../../admin/books.ts";
import type { OwnSession } from "../../../admin/own-pages.ts";
import { mayUseModels } from "../groups.ts";
import type { SeenSession, Session, SessionBook } from "../sign-in/session-book.ts";
import type { SignInSettings } from "../sign-in/settings.ts";
import { type Made, OwnKeys, type Owner } from "./own-keys.ts";
import { type OwnReport, reportOf } from "./report.ts";

export interface MeOptions {
  readonly settings: Pick<SignInSettings, "keys" | "providers" | "createUnder">;
  readonly sessions: SessionBook;
  now(): number;
}

export class Me {
  readonly #options: MeOptions;
  readonly keys: OwnKeys;

  constructor(options: MeOptions) {
    this.#options = options;
    this.keys = new OwnKeys(options.settings.keys);
  }

  ownerOf({ person, path, grants, provider }: Session, address: string): Owner {
    const { providers, createUnder } = this.#options.settings;
    const { options } = providers.find(({ name }) => name === provider) ?? {};
    const isGuest = createUnder !== undefined && path.startsWith(`${createUnder}/`);
    return {
      ...{ person, path, address, scopes: options?.scopes ?? {} },
      mayUseModels: mayUseModels(grants) || isGuest,
    };
  }

  report(books: AdminBooks, owner: Owner): Promise<OwnReport> {
    const [keys, policy] = [this.keys.list(books, owner), this.keys.policyOf(owner)];
    return reportOf(books, owner, { keys, policy, now: this.#options.now() });
  }

  create(books: AdminBooks, owner: Owner, name: string): Promise<Made> {
    return this.keys.create(books, owner, name, this.#options.now());
  }

  rotate(books: AdminBooks, owner: Owner, id: string, graceMs: number): Promise<Made> {
    return this.keys.rotate(books, owner, id, graceMs, this.#options.now());
  }

  revoke(books: AdminBooks, owner: Owner, id: string) {
    return this.keys.revoke(books, owner, id, this.#options.now());
  }

  /** @param secret of the session that asks */
  sessions(books: AdminBooks, owner: Owner, secret: string): Promise<SeenSession[]> {
    return this.#options.sessions.listOf(books, owner.person, secret, this.#options.now());
  }

  endSession({ person, address }: Owner, id: string): Promise<void> {
    return this.#options.sessions.endOne({ actor: person, address }, person, id);
  }
}

/** Whose session the request of an operation has. */
export interface Mine {
  readonly me: Me;
  readonly session: Session;
  readonly secret: string;
}

export const mine = new WeakMap<OwnSession, Mine>();
