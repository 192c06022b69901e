/** The admin API without a gateway: the same operations, in this process, on the store of a state folder. */
import { endsWithin } from "../../core/within.ts";
import { dirname, resolve } from "node:path";
import type { AdminBooks } from "../../admin/books.ts";
import { RUN_FILE } from "../../admin/callers.ts";
import { listOperations } from "../../admin/operations/index.ts";
import type { AdminOperation } from "../../admin/operation.ts";
import { AdminServer } from "../../admin/server.ts";
import { Books } from "../../keeper/books/books.ts";
import { NodeAdmin } from "../../admin/node-admin.ts";
import { sqliteStore } from "../../keeper/store/sqlite-store.ts";
import { hostOf } from "../../keeper/books/index.ts";
import { SqlUpkeep } from "../../keeper/store/upkeep.ts";
import { digestOf } from "../../ledger/keys/form.ts";
import { KEY_OPTIONS } from "../../ledger/keys/options.ts";
import { columnsWith } from "../../run/columns.ts";
import { VERSION } from "../../process/version.ts";
import type { Context } from "../command.ts";
import { AdminApi, type Method, type Query, queryOf, readAnswer } from "./api.ts";
import { lockStore } from "./folder.ts";

/** The address that the requests name. No socket is opened. */
const ORIGIN = "http://127.0.0.1";
const OPEN_MS = 10_000;

export type Declared = Pick<Context, "columns" | "keyOptions" | "tables" | "operations" | "keeperParts">;

export class LocalApi extends AdminApi {
  readonly #end: () => Promise<void>;
  readonly #server: AdminServer;
  readonly #credential: string = crypto.randomUUID();

  private constructor(books: AdminBooks, operations: readonly AdminOperation[], end: () => Promise<void>) {
    super();
    this.#end = end;
    this.#server = new AdminServer({
      books,
      operations,
      own: () => ({ host: "127.0.0.1", port: 80, names: [] }),
      runDigest: digestOf(this.#credential),
      report: () => {},
    });
  }

  /** Locks the folder and opens its store. @param declared by features @throws Error with one sentence */
  static async open(folder: string, declared: Declared): Promise<LocalApi> {
    const path = lockStore(resolve(folder));
    const store = sqliteStore(path, undefined, await declared.tables());
    const books = new Books({ store, syncMs: 0 });
    const upkeep = new SqlUpkeep(store, path);
    const host = hostOf(books, upkeep, dirname(path));
    const parts = [...(await declared.keeperParts(host)).values()];
    const end = async () => {
      await Promise.all(parts.map((part) => part.close?.()));
      await upkeep.close();
      await books.close();
    };
    books.open();
    if (!(await endsWithin(books.opened, OPEN_MS)))
      throw new Error(`${path} cannot be opened; another program may have locked it`);
    const metrics = { keys: false, maxSeries: 1_000 };
    const { offers } = host;
    const options = { books, upkeep, offers, version: VERSION, isProcess: true, metrics };
    const { columns, keyOptions } = declared;
    const own = await declared.operations();
    const allowed = [...KEY_OPTIONS, ...keyOptions];
    const operations = listOperations(VERSION, columnsWith(columns), allowed, own);
    return new LocalApi(new NodeAdmin(options), operations, end);
  }

  async send<Answer>(
    method: Method,
    path: string,
    { query = {}, body }: { query?: Query; body?: unknown } = {},
  ): Promise<Answer> {
    const request = new Request(`${ORIGIN}/admin/v1${path}${queryOf(query)}`, {
      method,
      headers: {
        host: "127.0.0.1",
        authorization: `Bearer ${this.#credential}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return readAnswer(await this.#server.handle(request, RUN_FILE), "the store");
  }

  async close(): Promise<void> {
    await this.#end();
  }
}
