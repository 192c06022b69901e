/** Models that are added at run time: list, create, change, delete. */
import { writePath } from "../../core/path.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ModelState } from "../../ledger/messages.ts";
import type { StoredModel } from "../../ledger/policy.ts";
import { actorOf, expectVersion, page, versionOf } from "../entries.ts";
import { AdminError, invalid, nameTaken, notFound } from "../../operator/errors.ts";
import { type AdminRequest, answers } from "../operation.ts";
import {
  changeStoredModel,
  createStoredModel,
  deleteStoredModel,
  getStoredModel,
  listStoredModels,
  type StoredModelView,
} from "../../operator/stored-models.ts";
import type { Frozen } from "../../operator/contract.ts";

type Given = Pick<AdminRequest, "books" | "caller" | "headers">;

export const storedModelOperations = [
  answers(listStoredModels, async ({ books, query }) => {
    const { entries, next } = page(books.policy().models ?? [], query);
    const states = await statesOf(books);
    return { json: { models: entries.map((model) => viewOf(model, states)), ...(next && { next }) } };
  }),
  answers(createStoredModel, async (given) => {
    const { name, ...spec } = given.body as JsonObject & { name: string };
    const id = `model:${name}`;
    if (find(given, name)) throw nameTaken(name);
    return save({ id, name, spec: withoutNull(spec) }, given, true);
  }),
  answers(getStoredModel, async (given) => answerOf(expectModel(given, given.params.name), given)),
  answers(changeStoredModel, async (given) => {
    const model = expectModel(given, given.params.name);
    expectVersion(given.headers, model);
    const { id, name, spec } = model;
    return save({ id, name, spec: withoutNull({ ...spec, ...(given.body as JsonObject) }) }, given);
  }),
  answers(deleteStoredModel, async (given) => {
    const { books, caller, params } = given;
    const model = expectModel(given, params.name);
    expectVersion(given.headers, model);
    if (!(await books.models.delete(model.id, actorOf(caller)))) throw notFound("stored model", model.name);
    await confirmed(statesOf(books), "removed");
    return { json: { name: model.name, deleted: true } };
  }),
];

/** @throws AdminError 400, 409 for an entry that the config would refuse, 503 without a worker that could check it */
async function save(model: StoredModel, given: Given, isNew = false) {
  const { books, caller } = given;
  if (books.gateway.workers.length === 0)
    throw new AdminError(
      503,
      "gateway_failed",
      "A model can be added or changed only while the gateway runs, because its workers know the providers; start it, or put the model into the config file.",
    );
  const check = await books.gateway.ask({ what: "check-model", model });
  if (check.declared !== undefined)
    throw new AdminError(
      409,
      "declared",
      `The name ${model.name} is defined in the config, at ${check.declared}, which precedes the store; change it there and reload, or choose another name.`,
      { path: "/name" },
    );
  if (check.fault) {
    const { clause, path } = check.fault;
    throw invalid(`${clause} (at ${writePath(path)}).`, `/${path.join("/")}`);
  }
  await books.models.save(model, isNew, actorOf(caller));
  const { json, version } = await confirmed(answerOf(model, given), "stored");
  const { warnings = [] } = check;
  return { json: { ...json, ...(warnings.length > 0 && { warnings }) }, version };
}

/** After a change: a worker that does not answer may not have taken it over. @throws AdminError 503 that says so */
async function confirmed<Value>(answer: Promise<Value>, done: "stored" | "removed"): Promise<Value> {
  try {
    return await answer;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AdminError(
      503,
      "gateway_failed",
      `The model is ${done}, and not every worker has confirmed it: ${why}`,
    );
  }
}

/** Each worker answers when it has taken over what was stored before. */
async function statesOf({ gateway }: AdminRequest["books"]): Promise<ReadonlyMap<string, ModelState>> {
  if (gateway.workers.length === 0) return new Map();
  const [states] = await gateway.askAll({ what: "stored-models" });
  return new Map((states ?? []).map((state) => [state.name, state]));
}

function find({ books }: Pick<AdminRequest, "books">, name: string): StoredModel | undefined {
  return books.policy().models?.find((model) => model.name === name);
}

/** @throws AdminError 404 */
function expectModel(given: Pick<AdminRequest, "books">, name: string): StoredModel {
  const found = find(given, name);
  if (!found) throw notFound("stored model", name);
  return found;
}

async function answerOf(model: StoredModel, { books }: Given) {
  const view = viewOf(model, await statesOf(books));
  return { json: view, version: view.version };
}

function viewOf(model: StoredModel, states: ReadonlyMap<string, ModelState>): Frozen<StoredModelView> {
  const { name, spec, damage } = model;
  const found = states.get(name);
  const state = found?.state ?? (damage === undefined ? "unknown" : "damaged");
  const why = found?.why ?? (damage === undefined ? undefined : `${damage}.`);
  return { ...spec, name, state, ...(why !== undefined && { why }), version: versionOf(model) };
}

function withoutNull(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
}
