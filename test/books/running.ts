/** A gateway of several workers with its books in a folder of its own, and what the tests look at and kill. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { HttpApi, listAll } from "../../src/cli/books/api.ts";
import type { Budget, CreatedKey } from "../../src/operator/index.ts";
import { type RunningGateway, runningGateways } from "../../src/run/run-file.ts";
import { TARGET } from "../helpers/gateway.ts";
import { serve, type Serving, until } from "../helpers/serving.ts";

export interface RunningBooks extends Serving {
  api: HttpApi;
  /** The admin listener, and the credential of the run file. */
  admin: { url: string; credential: string };
  /** The state folder. */
  state: string;
  /** Makes a key with the command line. @returns the key itself */
  createKey(...args: string[]): string;
  budget(name: string): Promise<Budget>;
}

/** Asks a model of chat-completions one short question. */
export function askModel(url: string, model: string, key?: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
  });
}

export interface BooksOptions {
  workers: number;
  /** Content of `weir.yaml`. */
  config?: Readonly<Record<string, unknown>>;
  env?: Record<string, string>;
  /** Dropped plugins: file name → text. */
  plugins?: Record<string, string>;
  /** The state folder, which is deleted at the end. Default: a new one. */
  state?: string;
}

export async function startBooks({
  workers,
  config = {},
  env = {},
  plugins = {},
  state = join("/tmp", `weir-state-${crypto.randomUUID()}`),
}: BooksOptions): Promise<RunningBooks> {
  const binary = TARGET === "binary";
  const serving = await serve({
    config: JSON.stringify(config),
    plugins,
    workers,
    binary,
    env: { WEIR_STATE: state, ...env },
  });
  const entry = await waitForEntry(serving);
  const admin = entry.admin!;
  const api = new HttpApi(admin.url, admin.credential, entry.port);
  return {
    ...serving,
    api,
    admin,
    state,
    createKey(...args) {
      const { code, output } = serving.run("keys", "create", ...args, "--json");
      if (code !== 0) throw new Error(output);
      return (JSON.parse(output.slice(0, output.lastIndexOf("}") + 1)) as CreatedKey).secret;
    },
    async budget(name) {
      const budgets = await listAll(api, "GET /budgets", "budgets");
      const found = budgets.find((budget) => budget.name === name);
      if (!found) throw new Error(`There is no budget ${name}.`);
      return found;
    },
    async end() {
      await serving.end();
      await Bun.$`rm -rf ${state}`.quiet();
    },
  };
}

async function waitForEntry({ folder, log }: Serving): Promise<RunningGateway> {
  const read = () => runningGateways({ XDG_RUNTIME_DIR: join(folder, "run") }).find(({ admin }) => admin);
  if (await until(() => read() !== undefined, 20_000)) return read()!;
  throw new Error(`The run file names no admin API:\n${log.join("\n")}`);
}

/** Runs statements on the store of a gateway that is stopped. */
export function alterStore(state: string, change: (database: Database) => void): void {
  const database = new Database(join(state, "weir.db"));
  try {
    change(database);
  } finally {
    database.close();
  }
}

/** Reads the store of a gateway, which may run. @param read gets a function for a statement with one column `value` */
export function readStore<Read>(state: string, read: (one: (sql: string) => number) => Read): Read {
  const database = new Database(join(state, "weir.db"), { readonly: true });
  try {
    return read((sql) => database.query<{ value: number }, []>(sql).get()?.value ?? 0);
  } finally {
    database.close();
  }
}
