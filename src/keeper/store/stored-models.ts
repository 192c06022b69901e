/** Models that were added at run time, in the store. Each change has the next number of the policy as its version, and an audit entry. */
import { nameTaken, notFound } from "../../operator/errors.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import type { StoredModel } from "../../ledger/policy.ts";
import { writeAudit } from "./audit-log.ts";
import { change, nextVersion, put } from "./policies.ts";
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

/**
 * Creates or replaces an entry.
 * @param isNew another gateway may have created it meanwhile @throws AdminError 409 if it has
 */
export function saveModel(
  sql: Sql,
  { id, name, spec }: StoredModel,
  isNew: boolean,
  actor: Actor,
  now: number,
): Promise<number> {
  return change(sql, "models", id, actor, undefined, now, async (inner, version) => {
    const [there] = await inner.all("SELECT id FROM models WHERE id = $1 AND deleted_at IS NULL", [id]);
    if (isNew && there) throw nameTaken(name);
    if (!isNew && !there) throw notFound("stored model", name);
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
