/** Rate limits: list, create, change, delete. */
import { Type } from "@sinclair/typebox";
import type { RateLimit } from "../../ledger/policy.ts";
import { rateAccount } from "../../ledger/record.ts";
import type { RateFigures } from "../books.ts";
import { actorOf, expectFreeName, expectSubject, expectVersion, findRule, newId, page } from "../entries.ts";
import { seesSubject, versionOf } from "../entries.ts";
import { declared, invalid, notFound } from "../../operator/errors.ts";
import { modelsOf, setsOf } from "../model-sets.ts";
import { modelWarnings } from "../model-warnings.ts";
import { type AdminRequest, operation } from "../operation.ts";
import { NewRate, Rate, RateChange } from "../../operator/rates.ts";
import { PAGE, pageOf, request } from "../../operator/shapes.ts";

type Given = Pick<AdminRequest, "books" | "caller" | "headers">;

const ONE = { name: "Rate", schema: Rate };

export const rateOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/rates",
    id: "listRates",
    summary: "Rate limits, and what may be used at once",
    access: "read",
    query: request(PAGE),
    answer: { name: "Rates", schema: pageOf("rates", Rate) },
    async handle(given) {
      const { books, caller, query } = given;
      const policy = books.policy();
      const visible = policy.rates.filter(({ on }) => seesSubject(caller, on, policy));
      const { entries, next } = page(visible, query);
      const figures = await books.rates();
      return { json: { rates: entries.map((rate) => viewOf(rate, figures, given)), ...(next && { next }) } };
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/rates",
    id: "createRate",
    summary: "Creates a rate limit",
    access: "write",
    body: NewRate,
    answer: ONE,
    status: 201,
    errors: ["conflict", "not_permitted", "not_found"],
    async handle(given) {
      const { books, body } = given;
      const on = expectSubject(given, body.on);
      const name = expectFreeName("rate limit", books.policy().rates, body.name);
      return save({ ...body, name, on, id: newId("rate_"), source: "store" }, given);
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/rates/{id}",
    id: "getRate",
    summary: "One rate limit, by id or name",
    access: "read",
    answer: ONE,
    errors: ["not_found"],
    handle: (given) => answerOf(findRate(given, given.params["id"]!), given),
  }),
  operation({
    method: "PATCH",
    path: "/admin/v1/rates/{id}",
    id: "changeRate",
    summary: "Changes a rate limit",
    access: "write",
    body: RateChange,
    answer: ONE,
    errors: ["not_found", "declared", "conflict", "not_permitted"],
    async handle(given) {
      const { books, body, params } = given;
      const rate = storedRate(given, params["id"]!);
      const { rates } = books.policy();
      const name =
        body.name === undefined ? rate.name : expectFreeName("rate limit", rates, body.name, rate.id);
      const on = body.on === undefined ? rate.on : expectSubject(given, body.on);
      return save({ ...rate, ...body, name, on }, given);
    },
  }),
  operation({
    method: "DELETE",
    path: "/admin/v1/rates/{id}",
    id: "deleteRate",
    summary: "Deletes a rate limit",
    access: "write",
    answer: { name: "Deleted", schema: Type.Object({ id: Type.String(), deleted: Type.Boolean() }) },
    errors: ["not_found", "declared"],
    async handle(given) {
      const { books, caller, params } = given;
      const { id } = storedRate(given, params["id"]!);
      if (!(await books.deleteRate(id, actorOf(caller)))) throw notFound("rate limit", id);
      return { json: { id, deleted: true } };
    },
  }),
];

async function save(rate: RateLimit, given: Given) {
  if (Object.keys(rate.limits).length === 0) throw invalid("At least one limit is needed.", "/limits");
  await given.books.saveRate(rate, actorOf(given.caller));
  const { json, version } = await answerOf(rate, given);
  const warned = await modelWarnings(given, `the rate limit ${rate.name}`, modelsOf(rate.on));
  return { json: { ...json, ...warned }, version };
}

function findRate(given: Given, id: string): RateLimit {
  return findRule("rate limit", given.books.policy().rates, given, id);
}

function storedRate(given: Given, id: string): RateLimit {
  const rate = findRate(given, id);
  if (rate.source === "config") throw declared("rate limit", rate.name);
  expectVersion(given.headers, rate);
  return rate;
}

async function answerOf(rate: RateLimit, given: Given) {
  const view = viewOf(rate, await given.books.rates(), given);
  return { json: view, version: view.version };
}

function viewOf(rate: RateLimit, figures: readonly RateFigures[], given: Pick<Given, "books">) {
  const left = Object.keys(rate.limits).flatMap((unit) => {
    const found = figures.find(({ account }) => account === rateAccount(rate.id, unit));
    return found ? [[unit, Math.floor(found.left)]] : [];
  });
  return {
    ...rate,
    ...setsOf(given, modelsOf(rate.on)),
    left: Object.fromEntries(left) as Record<string, number>,
    version: versionOf(rate),
  };
}
