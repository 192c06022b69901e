/** What requests of one caller to one server carry, where each caller has an account of its own there. */
import type { Accounts } from "./accounts.ts";
import type { Authorities, Guarded } from "./authorities.ts";
import { type Credential, unreachable } from "./credential.ts";
import { challengeIn } from "./discovery.ts";

export class UserCredential implements Credential {
  readonly #server: Guarded;
  readonly #owner: string;
  readonly #accounts: Accounts;
  readonly #authorities: Authorities;
  /** What was sent last. */
  #access: string | undefined;

  constructor(server: Guarded, owner: string, accounts: Accounts, authorities: Authorities) {
    this.#server = server;
    this.#owner = owner;
    this.#accounts = accounts;
    this.#authorities = authorities;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    try {
      // Without an account the server says by itself what it does not do for strangers.
      this.#access = await this.#accounts.token(this.#server, this.#owner);
      return this.#access === undefined ? {} : { authorization: `Bearer ${this.#access}` };
    } catch (thrown) {
      throw unreachable(this.#server.name, thrown);
    }
  }

  async refused({ status, challenge }: { status: number; challenge: string | undefined }): Promise<boolean> {
    const { error, scope } = challengeIn(challenge);
    if (status === 403) {
      if (error !== "insufficient_scope" || scope === undefined) return false;
      const needs = this.#accounts.widened(this.#server, this.#owner, scope);
      if (needs) throw needs;
      return false;
    }
    try {
      this.#authorities.doubt(this.#server, challenge);
      if (this.#access === undefined) throw this.#accounts.needs(this.#server, this.#owner, scope);
      return await this.#accounts.refused(this.#server, this.#owner, this.#access);
    } catch (thrown) {
      throw unreachable(this.#server.name, thrown);
    }
  }
}
