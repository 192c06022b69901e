/** The compiler holds answers, requests and clients of the operator's API to its contracts. `bun check` fails if it takes a plant. */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { Type } from "@sinclair/typebox";
import { listOperations } from "../../src/admin/operations/index.ts";
import { answers, type ReplyTo } from "../../src/admin/operation.ts";
import type { AdminApi } from "../../src/cli/books/api.ts";
import { deleteBudget, listBudgets } from "../../src/operator/budgets.ts";
import { getCall, listCalls } from "../../src/operator/calls.ts";
import { type Contract, contract } from "../../src/operator/contract.ts";
import { metrics } from "../../src/operator/gateway.ts";
import { createKey, getKey, revokeKey } from "../../src/operator/keys.ts";
import { usage } from "../../src/operator/reports.ts";
import { getSession, signOut } from "../../src/operator/session.ts";
import { Columns } from "../../src/core/column.ts";

const page = { calls: [], bounded: false };
const session = { role: "read" as const, path: "/", actor: "", version: "", port: 1 };
const deleted = { id: "b", deleted: true };

/** Handlers whose replies are right. */
const RIGHT = [
  answers(listCalls, () => ({ json: page })),
  answers(deleteBudget, ({ params: { id } }) => ({ json: { id, deleted: true }, version: "1" })),
  answers(metrics, () => ({ text: "", type: "text/plain" })),
  answers(usage, () => ({ text: "", type: "text/csv" })),
  answers(signOut, () => ({ json: {}, headers: { "set-cookie": "" } })),
];

/** Handlers and requests that no compiler may take: each line is wrong in one thing. */
const PLANTS: readonly ((api: AdminApi, reply: ReplyTo<typeof listCalls>) => unknown)[] = [
  // @ts-expect-error a member is missing
  () => answers(listCalls, () => ({ json: { calls: [] } })),
  // @ts-expect-error a member has another type
  () => answers(listCalls, () => ({ json: { ...page, bounded: "no" } })),
  // @ts-expect-error a member has another name
  () => answers(listCalls, () => ({ json: { call: [], bounded: false } })),
  // @ts-expect-error a number for a text
  () => answers(deleteBudget, () => ({ json: { ...deleted, id: 7 } })),
  // @ts-expect-error a list of something else
  () => answers(listCalls, () => ({ json: { ...page, calls: ["req_1"] } })),
  // @ts-expect-error null for an absent member
  () => answers(listCalls, () => ({ json: { ...page, next: null } })),
  // @ts-expect-error a word that is none of the list
  () => answers(getSession, () => ({ json: { ...session, role: "owner" } })),
  // @ts-expect-error a promise of a wrong answer
  () => answers(deleteBudget, async () => ({ json: { id: "b" } })),
  // @ts-expect-error the answer itself instead of a reply
  () => answers(deleteBudget, () => deleted),
  // @ts-expect-error text where JSON is published
  () => answers(listCalls, () => ({ text: "", type: "text/csv" })),
  // @ts-expect-error JSON where text is published
  () => answers(metrics, () => ({ json: {} })),
  // @ts-expect-error nothing
  () => answers(deleteBudget, () => undefined),
  // @ts-expect-error a parameter that the path does not have
  () => answers(getCall, ({ params }) => Promise.reject(new Error(params.name))),
  // @ts-expect-error a member that the query does not have
  () => answers(getKey, ({ query }) => Promise.reject(new Error(String(query.cut)))),
  // @ts-expect-error a member that the body does not have
  () => answers(createKey, ({ body }) => Promise.reject(new Error(body.secret))),
  // @ts-expect-error a body where the operation has none
  () => answers(revokeKey, ({ body }) => Promise.reject(new Error(body.name))),
  // @ts-expect-error an answer is not changed
  (_, reply) => reply.json.calls.push(),
  // @ts-expect-error not at any depth
  (_, reply) => (reply.json.calls[0]!.attempts[0]!.usage.input = 1),
  // @ts-expect-error an operation that does not exist
  (api) => api.ask("GET /call"),
  // @ts-expect-error a path without its parameter
  (api) => api.ask("GET /calls/{id}"),
  // @ts-expect-error a query with a wrong value
  (api) => api.ask("GET /calls", { query: { limit: "ten" } }),
  // @ts-expect-error a body without a required member
  (api) => api.ask("POST /keys", { body: { path: "/" } }),
  // @ts-expect-error a member that the answer does not have
  async (api) => (await api.ask("GET /calls")).total,
  // @ts-expect-error a contract without an answer
  () => contract({ method: "GET", path: "/x", id: "x", summary: "", needs: { role: "read", on: "path" } }),
  // @ts-expect-error a role that does not exist
  () => contract({ ...listBudgets, needs: { role: "owner", on: "path" } }),
];

test("the compiler refuses a handler or a request that breaks its contract", () => {
  expect(RIGHT.map(({ id }) => id)).toEqual(["listCalls", "deleteBudget", "metrics", "usage", "signOut"]);
  expect(PLANTS.length).toBeGreaterThanOrEqual(20);
});

test("each contract is answered by one operation, as it says", async () => {
  const said: Contract[] = [];
  const folder = `${import.meta.dir}/../../src/operator`;
  // The operations of cache.ts are those of a feature, whose tests hold them to it.
  for (const file of [...new Glob("*.ts").scanSync(folder)].filter((one) => one !== "cache.ts"))
    for (const value of Object.values((await import(`${folder}/${file}`)) as Record<string, unknown>))
      if (isContract(value)) said.push(value);
  const answered = listOperations("0", new Columns([]), []).map(({ handle: _, ...operation }) => operation);
  const byId = (list: readonly Contract[]) => [...list].sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(said.length).toBeGreaterThan(60);
  expect(byId(answered)).toEqual(byId(said));
});

test("a contract keeps its schemas as they are", () => {
  const schema = Type.Object({ id: Type.String() });
  const said = contract({
    ...{ method: "GET", path: "/x/{id}", id: "x", summary: "", needs: { role: "read", on: "path" } },
    answer: { name: "X", schema },
  });
  expect(said.answer.schema).toBe(schema);
});

function isContract(value: unknown): value is Contract {
  return typeof value === "object" && value !== null && "summary" in value && "answer" in value;
}
