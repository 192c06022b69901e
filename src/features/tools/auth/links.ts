/** Links by which callers connect their accounts: each once, for some minutes, for one caller. */
const LINK_MS = 600_000;
/** A link that ends soon is not given again. Milliseconds. */
const LEAST_MS = 300_000;
const MOST = 10_000;
const MOST_TRIES = 5;

export interface Link {
  readonly server: string;
  /** Id of the principal. */
  readonly owner: string;
  /** Scopes that a server has asked for. */
  readonly scope?: string;
  readonly until: number;
  tries: number;
}

export class Links {
  readonly #links = new Map<string, Link>();

  /** @returns the secret of the link, the same for the same question while it is fresh */
  give(server: string, owner: string, scope: string | undefined, now: number): string {
    for (const [secret, link] of this.#links) {
      if (link.until <= now) this.#links.delete(secret);
      else if (link.server === server && link.owner === owner && link.scope === scope)
        if (link.until - now > LEAST_MS) return secret;
    }
    const secret = randomSecret();
    const asked = { server, owner, ...(scope !== undefined && { scope }) };
    this.#links.set(secret, { ...asked, until: now + LINK_MS, tries: 0 });
    if (this.#links.size > MOST) this.#links.delete(this.#links.keys().next().value!);
    return secret;
  }

  find(server: string, secret: string, now: number): Link | undefined {
    const link = this.#links.get(secret);
    return link && link.server === server && now < link.until ? link : undefined;
  }

  /** Somebody else has tried it. After some tries it ends: it may be where it should not be. */
  refuse(secret: string): void {
    const link = this.#links.get(secret);
    if (link && ++link.tries >= MOST_TRIES) this.#links.delete(secret);
  }

  /** @returns the link, once */
  take(server: string, secret: string, owner: string, now: number): Link | undefined {
    const link = this.find(server, secret, now);
    if (link?.owner !== owner) return undefined;
    this.#links.delete(secret);
    return link;
  }

  forget(owner: string): void {
    for (const [secret, link] of this.#links) if (link.owner === owner) this.#links.delete(secret);
  }
}

/** 256 bits. */
export function randomSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}
