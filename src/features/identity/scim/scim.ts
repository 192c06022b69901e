/** SCIM 2.0 on the admin listener (RFC 7644): who asks, and what is answered. */
import type { AskedPage } from "../../../admin/own-pages.ts";
import { WrongTries } from "../../../admin/wrong-tries.ts";
import type { JsonObject } from "../../../core/json.ts";
import { AdminError } from "../../../operator/errors.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import type { Kind } from "./attributes.ts";
import type { Changes, Outcome } from "./changes.ts";
import { discovered, listOf, serviceProviderConfig } from "./discovery.ts";
import { bodyOf, selected, type Wanted } from "./document.ts";
import { ScimFault } from "./fault.ts";
import { GroupBook, ID } from "./group-book.ts";
import { listRows, queryOf } from "./list.ts";
import { operationsIn } from "./patch.ts";
import { groupResources, resource, userResources } from "./resources.ts";
import { type GroupRow, rowsWith, type UserRow } from "./rows.ts";
import { UserBook } from "./user-book.ts";

export const BASE = "/scim/v2";
/** Most bytes of a body: a group with all its members. */
const MAX_BODY = 8 * 1024 * 1024;
const MAX_TOKEN = 4_096;
const HEADERS = {
  ...{ "content-type": "application/scim+json", "cache-control": "no-store" },
  "x-content-type-options": "nosniff",
};

export interface ScimOptions {
  readonly changes: Changes;
  now(): number;
  /** Logs a fault of weir. */
  report(sentence: string): void;
}

/** What a request is about. */
interface Asking {
  readonly request: Request;
  readonly asked: AskedPage;
  readonly kind: Kind;
  readonly id: string | undefined;
  readonly base: string;
  readonly wanted: Wanted;
}

export class Scim {
  readonly users: UserBook;
  readonly #groups: GroupBook;
  readonly #options: ScimOptions;
  readonly #tries = new WrongTries();

  constructor(options: ScimOptions) {
    this.#options = options;
    this.users = new UserBook(options.changes);
    this.#groups = new GroupBook(options.changes);
  }

  async answer(request: Request, asked: AskedPage): Promise<Response> {
    try {
      this.#expectToken(request.headers, asked.address);
      return await this.#route(request, asked);
    } catch (cause) {
      if (cause instanceof ScimFault) return faultAnswer(cause);
      // The store is away.
      if (cause instanceof AdminError)
        return faultAnswer(new ScimFault(cause.status, undefined, cause.message));
      this.#options.report(`identity: SCIM failed: ${(cause as Error).message}`);
      return faultAnswer(new ScimFault(500, undefined, "weir failed; its log has the cause."));
    }
  }

  /**
   * The right token passes always: behind a proxy all share an address, and a stranger could hold off suspensions.
   * @throws ScimFault 401 or 429
   */
  #expectToken(headers: Headers, address: string): void {
    const [, given] = /^bearer[ \t]+(\S+)[ \t]*$/i.exec(headers.get("authorization") ?? "") ?? [];
    const [now, challenge] = [this.#options.now(), { "www-authenticate": "Bearer" }];
    if (given === undefined)
      throw new ScimFault(401, undefined, "The request needs the bearer token.", challenge);
    const [one, other] = [digestOf(given.slice(0, MAX_TOKEN)), this.#options.changes.settings.digest];
    if (given.length <= MAX_TOKEN && crypto.timingSafeEqual(Buffer.from(one), Buffer.from(other))) return;
    const wait = Math.ceil(this.#tries.waitOf(address, now) / 1_000);
    if (wait > 0)
      throw new ScimFault(429, undefined, `There were too many wrong tokens; try again in ${wait} s.`, {
        "retry-after": String(wait),
      });
    this.#tries.add(address, now);
    throw new ScimFault(401, undefined, "The token is not valid.", challenge);
  }

  async #route(request: Request, asked: AskedPage): Promise<Response> {
    const { settings } = this.#options.changes;
    const { pathname, origin, searchParams } = asked.url;
    const base = `${settings.url ?? origin}${BASE}`;
    const [what = "", written, more] = pathname.slice(BASE.length + 1).split("/");
    const id = written === undefined || written === "" ? undefined : decoded(written);
    if (more !== undefined && more !== "") throw nothing();
    if (what === "ServiceProviderConfig" && id === undefined)
      return reading(request, () => serviceProviderConfig(base));
    if (what === "Schemas" || what === "ResourceTypes")
      return reading(request, () => discovered(what, id, base));
    if (what === "Me" || what === "Bulk" || what === ".search" || id === ".search")
      throw new ScimFault(501, undefined, `weir does not know ${id ?? what}.`);
    const kind = what === "Users" ? "User" : what === "Groups" ? "Group" : undefined;
    if (!kind) throw nothing();
    const asking = { request, asked, kind, id, base, wanted: wantedIn(searchParams) } as const;
    if (id !== undefined && !ID.test(id)) throw nothing();
    return id === undefined ? this.#all(asking) : this.#one(asking, id);
  }

  async #all(asking: Asking): Promise<Response> {
    const { request, asked, kind } = asking;
    const { address, url, books } = asked;
    if (request.method === "POST") {
      const body = await bodyIn(request);
      const made = await (kind === "User" ? this.users : this.#groups).create(address, body);
      if (made.isAccessChanged) await this.#settle();
      return this.#shown(asking, made.value, 201);
    }
    if (request.method !== "GET") throw notAllowed("GET, POST");
    const parameter = (name: string) => url.searchParams.get(name);
    const query = queryOf(kind, {
      ...{ filter: parameter("filter"), startIndex: parameter("startIndex"), count: parameter("count") },
    });
    const list = await books.read(async (sql) => {
      const { total, start, rows } = await listRows<UserRow | GroupRow>(sql, query);
      const found =
        kind === "User"
          ? await userResources(sql, rows as UserRow[], asking.base)
          : await groupResources(sql, rows as GroupRow[], asking.base, wantsMembers(asking.wanted));
      return listOf(
        found.map((one) => selected(kind, one, asking.wanted)),
        total,
        start,
      );
    });
    return json(200, list);
  }

  async #one(asking: Asking, id: string): Promise<Response> {
    const { request, asked, kind } = asking;
    const { address, books } = asked;
    const book = kind === "User" ? this.users : this.#groups;
    if (request.method === "GET") {
      const table = kind === "User" ? "identity_scim_users" : "identity_scim_groups";
      const [row] = await books.read((sql) => rowsWith<UserRow | GroupRow>(sql, table, "id", [id]));
      if (!row) throw new ScimFault(404, undefined, `There is no such ${kind.toLowerCase()}.`);
      return this.#shown(asking, row, 200);
    }
    if (request.method === "DELETE") {
      await this.#settled(book.delete(address, id));
      return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
    }
    if (request.method !== "PUT" && request.method !== "PATCH") throw notAllowed("GET, PUT, PATCH, DELETE");
    const body = await bodyIn(request);
    const changing =
      request.method === "PUT"
        ? book.replace(address, id, body)
        : book.patch(address, id, operationsIn(body));
    const { value } = await this.#settled<UserRow | GroupRow>(changing);
    // A group may have thousands of members.
    if (kind === "Group" && request.method === "PATCH") return new Response(null, { status: 204 });
    return this.#shown(asking, value, 200);
  }

  async #shown(
    { kind, base, wanted, asked }: Asking,
    row: UserRow | GroupRow,
    status: number,
  ): Promise<Response> {
    const read = () =>
      asked.books.read((sql) =>
        kind === "User"
          ? userResources(sql, [row as UserRow], base)
          : groupResources(sql, [row as GroupRow], base, wantsMembers(wanted)),
      );
    // A new user is in no group.
    const [shown] = status === 201 && kind === "User" ? [resource(kind, row, base)] : await read();
    const location = `${base}/${kind}s/${row.id}`;
    return json(status, selected(kind, shown!, wanted), status === 201 ? { location } : {});
  }

  /** Waits for the workers after a change, also after one that changes nothing: it may repeat one that they have not confirmed. */
  async #settled<Value>(changing: Promise<Outcome<Value>>): Promise<Outcome<Value>> {
    const made = await changing.catch(async (cause: unknown) => {
      if (cause instanceof ScimFault && cause.status === 404) await this.#settle();
      throw cause;
    });
    await this.#settle();
    return made;
  }

  /** @throws ScimFault 503 */
  async #settle(): Promise<void> {
    if (await this.#options.changes.settled()) return;
    throw new ScimFault(
      503,
      undefined,
      "The change is stored, but a worker of this or of another gateway has not confirmed it; send the request again.",
      { "retry-after": "5" },
    );
  }
}

const nothing = () => new ScimFault(404, undefined, "There is nothing at this path.");

function reading(request: Request, make: () => object): Response {
  if (request.method !== "GET") throw notAllowed("GET");
  return json(200, make());
}

function notAllowed(allow: string): ScimFault {
  return new ScimFault(405, undefined, `This path accepts ${allow}.`, { allow });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw nothing();
  }
}

function wantedIn(query: URLSearchParams): Wanted {
  const list = (name: string) => {
    const text = query.get(name);
    return text === null || text.trim() === "" ? undefined : text.split(",").slice(0, 100);
  };
  const [attributes, excluded] = [list("attributes"), list("excludedAttributes")];
  return { ...(attributes && { attributes }), ...(excluded && { excluded }) };
}

function wantsMembers({ attributes, excluded = [] }: Wanted): boolean {
  const isMembers = (path: string) => /(^|:)members(\.|$)/i.test(path.trim());
  return attributes
    ? attributes.some(isMembers)
    : !excluded.some((path) => /(^|:)members$/i.test(path.trim()));
}

/** @throws ScimFault */
async function bodyIn(request: Request): Promise<JsonObject> {
  const tooLarge = () => new ScimFault(413, undefined, `The body must have at most ${MAX_BODY} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY) throw tooLarge();
  const text = await request.text();
  if (text.length > MAX_BODY) throw tooLarge();
  return bodyOf(text);
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { ...HEADERS, ...headers } });
}

export function faultAnswer({ status, scimType, message, headers }: ScimFault): Response {
  const body = {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    ...{ status: String(status), ...(scimType && { scimType }), detail: message },
  };
  return json(status, body, headers);
}
