/** People in the store: whom weir has seen, and what an operator has decided about them. */
import type { AdminBooks } from "../../admin/books.ts";
import type { ChangeRows, KeeperHost } from "../../keeper/seams.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import type { Actor } from "../../keeper/store/store.ts";
import { DECLARED, type DeclaredPeople, type Known, NOBODY_DECLARED } from "./declared/people.ts";
import type { Grant } from "./groups.ts";
import type { SeenPerson } from "./messages.ts";
import { type AccessRow, besideTokens } from "./people.ts";

/** The actor of entries that weir makes by itself. */
const SELF: Actor = { actor: "identity" };

export type Access = Omit<AccessRow, "id" | "grants"> & { readonly grants: readonly Grant[] };

/** Nothing is known besides the token. */
export const NONE: Access = { status: "active", path: null, grants: [], not_before: 0, cut: 0 };

export class PeopleBook {
  readonly #host: Pick<KeeperHost, "change" | "settled" | "read" | "write">;
  readonly #declared: () => DeclaredPeople;

  /** @param declared whom the config names at the moment */
  constructor(
    host: Pick<KeeperHost, "change" | "settled" | "read" | "write">,
    declared: () => DeclaredPeople = () => NOBODY_DECLARED,
  ) {
    this.#host = host;
    this.#declared = declared;
  }

  /** What the config says of somebody. */
  declaredOf(known: Known): ReturnType<DeclaredPeople["of"]> {
    return this.#declared().of(known);
  }

  /** What is known of a person beside its tokens. */
  accessOf(books: Pick<AdminBooks, "read">, id: string): Promise<Access> {
    return books.read((sql) => readAccess(sql, id));
  }

  /** The same, where there are no books of the admin API. */
  known(id: string): Promise<Access> {
    return this.#host.read((sql) => readAccess(sql, id));
  }

  /** Whether all workers have taken over what was decided before. */
  settled(): Promise<boolean> {
    return this.#host.settled();
  }

  /** Writes down one person. @param source how weir learned of it */
  async add(person: SeenPerson, source: string): Promise<void> {
    await this.#host.change(SELF, "person added", `people/${person.id}`, async (sql) => {
      await writeSeen(sql, person, source);
      return { before: null, after: { source } };
    });
  }

  /** Writes down somebody who was perhaps there before. The audit log has the first time. */
  async met(person: SeenPerson, source: string): Promise<void> {
    const [row] = await this.#host.read((sql) =>
      sql.all("SELECT id FROM identity_people WHERE id = $1", [person.id]),
    );
    if (!row) return this.add(person, source);
    await this.#host.write((sql) => writeSeen(sql, person, source));
  }

  /**
   * The groups of a person grant this from now on; other grants stay. Without a change the audit log has no entry.
   * @param declared what the config says, where the store may not have it yet
   */
  async regroup(
    actor: Actor,
    id: string,
    grants: readonly Grant[],
    declared?: ReturnType<DeclaredPeople["of"]>,
  ): Promise<void> {
    const withGroups = (former: Access): Access => {
      const kept = besideTokens(former.grants);
      const others = declared
        ? [...kept.filter(({ source }) => source !== DECLARED), ...declared.grants]
        : kept;
      return {
        ...former,
        path: declared?.path === undefined ? former.path : null,
        grants: [...grants, ...others],
      };
    };
    const known = await this.known(id);
    const next = withGroups(known);
    if (known.path === next.path && isSame(known.grants, next.grants)) return;
    await this.decide(actor, "groups of the provider", id, withGroups);
  }

  /** Books the calls of a person elsewhere, unless an operator has set its path. */
  async place(actor: Actor, id: string, path: string): Promise<void> {
    await this.#host.change(actor, "declare person", `people/${id}`, async (sql) => {
      await sql.run("UPDATE identity_people SET path = $2 WHERE id = $1", [id, path]);
      return { before: null, after: { path } };
    });
  }

  /** Wipes name and address. The subject stays: without it the person would come back as another one. */
  async forget(id: string): Promise<void> {
    await this.#host.change(SELF, "person forgotten", `people/${id}`, async (sql) => {
      await sql.run("UPDATE identity_people SET name = '', email = NULL, email_verified = 0 WHERE id = $1", [
        id,
      ]);
      await sql.run("DELETE FROM identity_provider_tokens WHERE person = $1", [id]);
      return { before: null, after: null };
    });
  }

  /** Writes down people who were seen. */
  async note(people: readonly SeenPerson[]): Promise<void> {
    // Nodes that write the same rows in different orders would wait for each other.
    const sorted = [...people].sort((a, b) => (a.id < b.id ? -1 : 1));
    const [only] = sorted.length === 1 ? sorted : [];
    await this.#host.change(SELF, "people seen", only ? `people/${only.id}` : "people", async (sql) => {
      for (const person of sorted) await writeSeen(sql, person, "token");
      return { before: null, after: { people: sorted.length } };
    });
  }

  /**
   * Changes what weir knows of a person or of a token beside its claims.
   * @param change makes the new values of the former ones
   * @param keepsAdmin the last admin on `/` stays one
   * @throws LastAdmin
   */
  async decide(
    actor: Actor,
    action: string,
    id: string,
    change: (former: Access) => Access,
    { keepsAdmin = false }: { keepsAdmin?: boolean } = {},
  ): Promise<Access> {
    let made = NONE;
    const work: ChangeRows = async (sql, version) => {
      const former = await readAccess(sql, id);
      made = change(former);
      const { status, path, grants, not_before, cut } = made;
      await sql.run(
        `INSERT INTO identity_access (id, status, path, grants, not_before, cut, version) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, path = excluded.path, grants = excluded.grants,
         not_before = excluded.not_before, cut = excluded.cut, version = excluded.version, deleted_at = NULL`,
        [id, status, path, JSON.stringify(grants), not_before, cut, version],
      );
      // In the transaction: two admins on two nodes could remove each other.
      if (keepsAdmin && isAdmin(former) && !isAdmin(made)) await expectAdmin(sql);
      // Whom an operator has suspended, SCIM does not restore.
      if (status === "suspended")
        await sql.run("UPDATE identity_scim_users SET held = 0 WHERE person = $1", [id]);
      return { before: former, after: made };
    };
    await this.#host.change(actor, action, `people/${id}`, work);
    return made;
  }
}

function isSame(one: readonly Grant[], other: readonly Grant[]): boolean {
  const textOf = (grants: readonly Grant[]) =>
    JSON.stringify(grants.map(({ role, on, source }) => JSON.stringify([role, on, source])).sort());
  return textOf(one) === textOf(other);
}

/** No admin on `/` would remain. */
export class LastAdmin extends Error {
  override readonly name = "LastAdmin";
}

const isAdmin = ({ status, grants }: Access) =>
  status === "active" && grants.some(({ role, on }) => role === "admin" && on === "/");

/** @throws LastAdmin */
async function expectAdmin(sql: Sql): Promise<void> {
  const rows = await sql.all<AccessRow>(
    `SELECT status, path, grants, not_before, cut FROM identity_access
     WHERE status = 'active' AND grants LIKE '%"role":"admin"%' AND deleted_at IS NULL`,
  );
  if (!rows.some((row) => isAdmin(accessOf(row)))) throw new LastAdmin("no admin on / would remain");
}

async function readAccess(sql: Sql, id: string): Promise<Access> {
  const [row] = await sql.all<AccessRow>(
    "SELECT status, path, grants, not_before, cut FROM identity_access WHERE id = $1 AND deleted_at IS NULL",
    [id],
  );
  return row ? accessOf(row) : NONE;
}

/** A row with numbers and grants in place of texts. */
export function accessOf({ status, path, grants, not_before, cut }: Omit<AccessRow, "id">): Access {
  const list = JSON.parse(grants) as readonly Grant[];
  return { status, path, grants: list, not_before: Number(not_before), cut: Number(cut) };
}

async function writeSeen(sql: Sql, person: SeenPerson, source: string): Promise<void> {
  const { id, issuer, subject, name, email, isEmailVerified, path, at } = person;
  await sql.run(
    `INSERT INTO identity_people (id, issuer, subject, name, email, email_verified, path, source, created, seen)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $9, $8, $8) ON CONFLICT (id) DO UPDATE SET name = excluded.name,
     email = excluded.email, email_verified = excluded.email_verified, path = excluded.path, seen = excluded.seen`,
    [id, issuer, subject, name, email ?? null, isEmailVerified ? 1 : 0, path, at, source],
  );
}
