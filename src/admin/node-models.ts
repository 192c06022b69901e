/** Changes of the admin API to the models of the store. */
import type { ModelBooks } from "./books.ts";
import type { Sql } from "../keeper/store/sql.ts";
import { deleteModel, saveModel } from "../keeper/store/stored-models.ts";

/** @param change writes to the store, and tells the workers */
export function nodeModels(
  change: (write: (sql: Sql, now: number) => Promise<unknown>) => Promise<void>,
): ModelBooks {
  return {
    save: (model, isNew, actor) => change((sql, now) => saveModel(sql, model, isNew, actor, now)),
    async delete(id, actor) {
      let found = false;
      await change(async (sql, now) => (found = await deleteModel(sql, id, actor, now)));
      return found;
    },
  };
}
