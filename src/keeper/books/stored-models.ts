/** Models that were added at run time, in the store. Each change has the next number of the policy as its version, and an audit entry. */
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import type { StoredModel } from "../../ledger/policy.ts";
import { change, nextVersion, put, writeAudit } from "./policies.ts";
import type { Sql } from "./sql.ts";
import type { Actor } from "./store.ts";

interface ModelRow {
  id: string;
  name: string;
  spec: string;
  deleted_at: number | null;
}

/** Entries that changed after a version, and the ids of those that were removed. A row that cannot be used has `damage`. */
export async function readModels(
  sql: Sql,
  since: number,
): Promise<{ changed: StoredModel[]; removed: string[] }> {
  const rows = await sql.all<ModelRow>(
    "SELECT id, name, spec, deleted_at FROM models WHERE version > $1 ORDER BY id",
    [since],
  );
  return {
    changed: rows.filter(({ deleted_at }) => deleted_at === null).map(modelOf),
    removed: rows.filter(({ deleted_at }) => deleted_at !== null).map(({ id }) => id),
  };
}

function modelOf({ id, name, spec: text }: ModelRow): StoredModel {
  const spec = parseJson(text);
  if (!isObject(spec)) return { id, name, spec: {}, damage: "its row in the store is not valid JSON" };
  if (id !== `model:${name}`)
    return { id, name, spec, damage: "its row in the store has the id of another name" };
  return { id, name, spec };
}

/** Creates or replaces an entry. */
export function saveModel(sql: Sql, model: StoredModel, actor: Actor, now: number): Promise<number> {
  const { id, name, spec } = model;
  return change(sql, "models", id, actor, undefined, now, async (inner, version) => {
    const row = { id, name, spec: JSON.stringify(spec), created_at: now, created_by: actor.actor };
    await put(inner, "models", { ...row, deleted_at: null, version });
    return { name, ...spec } satisfies JsonObject;
  });
}

/** Marks an entry as deleted, so that each node sees that it is. @returns whether it was there */
export function deleteModel(sql: Sql, id: string, actor: Actor, now: number): Promise<boolean> {
  return sql.transaction(async (inner) => {
    const [before] = await inner.all("SELECT * FROM models WHERE id = $1 AND deleted_at IS NULL", [id]);
    if (!before) return false;
    const version = await nextVersion(inner);
    await inner.run("UPDATE models SET deleted_at = $2, version = $3 WHERE id = $1", [id, now, version]);
    await writeAudit(inner, now, actor, "delete", `models/${id}`, before, null);
    return true;
  });
}
