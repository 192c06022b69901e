/**
 * Writes down what the config grants, beside what operators and groups grant: so it reaches every worker of every node as their
 * decisions do, and is taken back when the config says it no more, also over a restart.
 */
import type { KeeperHost } from "../../../keeper/seams.ts";
import { personId } from "../people.ts";
import type { Access, PeopleBook } from "../people-book.ts";
import type { SeenPerson } from "../messages.ts";
import { DECLARED, type DeclaredPerson, DeclaredPeople, NOBODY_DECLARED } from "./people.ts";

/** Time after which what could not be written is tried again. Milliseconds. */
const RETRY_MS = 2_000;
const CONFIG = { actor: "config" };

type Wanted = Pick<DeclaredPerson, "path" | "grants">;

export class DeclaredPart {
  readonly #host: Pick<KeeperHost, "read" | "report">;
  readonly #book: () => Promise<PeopleBook>;
  #people = NOBODY_DECLARED;
  #written: string | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Changes one after another: the last config wins. */
  #line: Promise<void> = Promise.resolve();
  #isReported = false;

  constructor(host: Pick<KeeperHost, "read" | "report">, book: () => Promise<PeopleBook>) {
    this.#host = host;
    this.#book = book;
  }

  /** Whom the config of the workers names. */
  get people(): DeclaredPeople {
    return this.#people;
  }

  configure(list: readonly DeclaredPerson[]): void {
    const written = JSON.stringify(list);
    // All workers tell of the same config.
    if (written === this.#written) return;
    this.#written = written;
    this.#people = new DeclaredPeople(list);
    this.#isReported = false;
    this.#begin();
  }

  /** People were written down: the config may know them by their address. */
  async seen(people: readonly SeenPerson[]): Promise<void> {
    for (const person of people) {
      const wanted = this.#people.of(person);
      if (wanted.grants.length > 0) await this.#write(person.id, wanted);
    }
  }

  stop(): void {
    clearTimeout(this.#retry);
  }

  #begin(): void {
    clearTimeout(this.#retry);
    const written = this.#written;
    this.#line = this.#line.then(async () => {
      if (written !== this.#written) return;
      try {
        await this.#apply();
      } catch (cause) {
        if (!this.#isReported)
          this.#host.report(
            `identity: people of the config could not be written: ${(cause as Error).message}`,
          );
        this.#isReported = true;
        this.#retry = setTimeout(() => this.#begin(), RETRY_MS);
        this.#retry.unref();
      }
    });
  }

  async #apply(): Promise<void> {
    const wanted = new Map<string, Wanted>();
    for (const id of await this.#granted()) wanted.set(id, { grants: [] });
    for (const entry of this.#people.list)
      for (const known of await this.#found(entry)) wanted.set(known.id, this.#people.of(known));
    for (const [id, one] of wanted) await this.#write(id, one);
  }

  /** Ids of people with grants of a config. */
  async #granted(): Promise<string[]> {
    const rows = await this.#host.read((sql) =>
      sql.all<{ id: string }>(
        `SELECT id FROM identity_access WHERE grants LIKE '%"source":"${DECLARED}"%' AND deleted_at IS NULL ORDER BY id`,
      ),
    );
    return rows.map(({ id }) => id);
  }

  /** The people of an entry, who are added if only their subject says who they are. */
  async #found({ issuer, subject, email, name = "", path }: DeclaredPerson): Promise<Found[]> {
    const [condition, value] = subject === undefined ? ["LOWER(email)", email!] : ["subject", subject];
    const rows = await this.#host.read((sql) =>
      sql.all<Row>(
        `SELECT id, issuer, subject, email, email_verified, path FROM identity_people WHERE issuer = $1 AND ${condition} = $2 ORDER BY id`,
        [issuer, value],
      ),
    );
    const book = await this.#book();
    if (rows.length === 0 && subject !== undefined) {
      const id = personId(issuer, subject);
      const person = { id, issuer, subject, name, isEmailVerified: false, path: path ?? "/", at: Date.now() };
      await book.add(person, DECLARED);
      return [person];
    }
    const found = rows.map(({ email: address, email_verified: verified, ...row }) => ({
      ...row,
      ...(address !== null && { email: address }),
      isEmailVerified: Number(verified) === 1,
    }));
    for (const one of found) {
      const { path: declared } = this.#people.of(one);
      if (declared !== undefined && declared !== one.path) await book.place(CONFIG, one.id, declared);
    }
    return found;
  }

  async #write(id: string, { grants, path }: Wanted): Promise<void> {
    const book = await this.#book();
    const declared = (former: Access): Access => ({
      ...former,
      path: path === undefined ? former.path : null,
      grants: [...former.grants.filter(({ source }) => source !== DECLARED), ...grants],
    });
    const former = await book.known(id);
    // A restart changes nothing, and has no entry in the audit log.
    if (JSON.stringify(declared(former)) === JSON.stringify(former)) return;
    await book.decide(CONFIG, "declare person", id, declared);
  }
}

interface Row {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly email_verified: number | string;
  readonly path: string;
}

type Found = Pick<SeenPerson, "id" | "issuer" | "subject" | "email" | "isEmailVerified" | "path">;
