/** Rate limits: list, create, change, delete. */
import type { RateLimit } from "../../ledger/policy.ts";
import { rateAccount } from "../../ledger/record.ts";
import type { RateFigures } from "../books.ts";
import {
  actorOf,
  expectFreeName,
  expectSubject,
  expectVersion,
  findRule,
  newId,
  page,
  seesSubject,
  versionOf,
} from "../entries.ts";
import { declared, invalid, notFound } from "../../operator/errors.ts";
import { modelsOf, setsOf } from "../model-sets.ts";
import { modelWarnings } from "../model-warnings.ts";
import { type AdminRequest, answers } from "../operation.ts";
import { changeRate, createRate, deleteRate, getRate, listRates } from "../../operator/rates.ts";

type Given = Pick<AdminRequest, "books" | "caller" | "headers">;

export const rateOperations = [
  answers(listRates, async (given) => {
    const { books, caller, query } = given;
    const policy = books.policy();
    const visible = policy.rates.filter(({ on }) => seesSubject(caller, on, policy));
    const { entries, next } = page(visible, query);
    const figures = await books.rates();
    return { json: { rates: entries.map((rate) => viewOf(rate, figures, given)), ...(next && { next }) } };
  }),
  answers(createRate, async (given) => {
    const { books, body } = given;
    const on = expectSubject(given, body.on);
    const name = expectFreeName("rate limit", books.policy().rates, body.name);
    return save({ ...body, name, on, id: newId("rate_"), source: "store" }, given);
  }),
  answers(getRate, (given) => answerOf(findRate(given, given.params.id), given)),
  answers(changeRate, async (given) => {
    const { books, body, params } = given;
    const rate = storedRate(given, params.id);
    const { rates } = books.policy();
    const name =
      body.name === undefined ? rate.name : expectFreeName("rate limit", rates, body.name, rate.id);
    const on = body.on === undefined ? rate.on : expectSubject(given, body.on);
    return save({ ...rate, ...body, name, on }, given);
  }),
  answers(deleteRate, async (given) => {
    const { books, caller, params } = given;
    const { id } = storedRate(given, params.id);
    if (!(await books.deleteRate(id, actorOf(caller)))) throw notFound("rate limit", id);
    return { json: { id, deleted: true } };
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
