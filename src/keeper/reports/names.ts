/** The names that calls have used, from the table of names: the rows of calls are never read. */
import type { NameKind } from "../store/names.ts";
import type { Sql } from "../store/sql.ts";
import { type Directory, inList, isWithin } from "./directory.ts";

/** Most names of a kind: the newest. */
const MOST = 500;

export interface UsedNames {
  paths: string[];
  tags: string[];
  /** The providers' names of models. */
  models: string[];
  /** Models as clients named them. */
  asked: string[];
  providers: string[];
  deployments: string[];
  formats: string[];
  clients: string[];
}

/** @param within only names of calls on this path and below; those of a path that are not `/` lack `asked`, `formats`, `clients` */
export async function usedNames(sql: Sql, directory: Directory, within: string): Promise<UsedNames> {
  await directory.refresh();
  const isAll = within === "/";
  const callers = [...directory.callers].filter(([, { path }]) => isWithin(path, within));
  const used = isAll
    ? undefined
    : await targetsOf(
        sql,
        callers.map(([id]) => id),
      );
  const targets = [...directory.targets].flatMap(([id, target]) =>
    used === undefined || used.has(id) ? target : [],
  );
  const namesOf = async (kind: NameKind) => (isAll ? listed(await newest(sql, kind)) : []);
  return {
    paths: listed(callers.map(([, { path }]) => path)),
    tags: listed(callers.flatMap(([, { tags }]) => tags)),
    models: listed(targets.map(({ model }) => model)),
    asked: await namesOf("model"),
    providers: listed(targets.map(({ provider }) => provider)),
    deployments: listed(targets.map(({ deployment }) => deployment)),
    formats: await namesOf("format"),
    clients: await namesOf("client"),
  };
}

async function newest(sql: Sql, kind: NameKind): Promise<string[]> {
  const rows = await sql.all<{ text: string }>(
    "SELECT text FROM names WHERE kind = $1 ORDER BY id DESC LIMIT $2",
    [kind, MOST],
  );
  return rows.map(({ text }) => text);
}

async function targetsOf(sql: Sql, callers: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await sql.all<{ target: number }>(
    `SELECT DISTINCT target FROM use_day WHERE caller ${inList(callers)}`,
  );
  return new Set(rows.map(({ target }) => target));
}

function listed(names: readonly string[]): string[] {
  return [...new Set(names)].sort().slice(0, MOST);
}
