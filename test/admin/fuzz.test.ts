/** Requests from the OpenAPI document, valid and wrong, with random values: never a failure of weir, never a secret. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";
import { digestOf } from "../../src/ledger/keys/form.ts";
import { fakeAdmin, RUN_CREDENTIAL } from "../helpers/admin.ts";
import { schemaFaults } from "../helpers/json-schema.ts";
import { IS_LONG } from "../helpers/effort.ts";

interface Described {
  parameters?: { name: string; in: string; schema: JsonObject }[];
  requestBody?: { content: Record<string, { schema: JsonObject }> };
  responses: Record<string, { content: Record<string, { schema: JsonObject }>; "x-error-codes"?: string[] }>;
}

const { send } = fakeAdmin();
const document = (await send("GET", "/admin/v1/openapi.json")).body as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: JsonObject };
};
const { schemas } = document.components;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
);
/** Texts that break careless code. */
const NASTY = [
  "",
  " ",
  "null",
  "__proto__",
  "constructor",
  "../../etc",
  "%00",
  "'; DROP TABLE keys; --",
  "💥",
  "\ud800",
  "a".repeat(5_000),
];
const text = fc.oneof(fc.constantFrom(...NASTY, "name-1", "/eng", "config:old"), fc.string());
const anything = fc.oneof(text, fc.integer(), fc.double(), fc.constant(null), fc.boolean(), fc.jsonValue());

/** Values that a schema allows, and with some probability others. */
function valueOf(schema: Json | undefined, wrong: boolean): fc.Arbitrary<unknown> {
  if (!isObject(schema)) return anything;
  const right = rightValueOf(schema, wrong);
  return wrong ? fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: anything }) : right;
}

function rightValueOf(schema: JsonObject, wrong: boolean): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map((one) => valueOf(one, wrong)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  switch (schema.type) {
    case "integer":
    case "number":
      return fc.integer({
        min: Number(schema.minimum ?? 0),
        max: Math.min(2 ** 31 - 1, Number(schema.maximum ?? 2 ** 31 - 1)),
      });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valueOf(schema.items, wrong), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: 3,
      });
    case "object":
      return objectOf(schema, wrong);
    default:
      return typeof schema.pattern === "string" ? fc.stringMatching(new RegExp(schema.pattern)) : text;
  }
}

function objectOf({ properties, required }: JsonObject, wrong: boolean): fc.Arbitrary<unknown> {
  const members = Object.entries(isObject(properties) ? properties : {});
  const needed = wrong
    ? []
    : members.map(([name]) => name).filter((name) => (required as string[])?.includes(name));
  return fc.record(Object.fromEntries(members.map(([name, schema]) => [name, valueOf(schema, wrong)])), {
    requiredKeys: needed,
  });
}

for (const { method, path, described } of operations)
  test(`${method} ${path} survives random requests and answers by its document`, async () => {
    const { parameters = [], requestBody, responses } = described;
    const inQuery = parameters.filter((parameter) => parameter.in === "query");
    const codes = responses["default"]!["x-error-codes"]!;
    const request = (wrong: boolean) =>
      fc.record({
        id: fc.oneof(fc.constantFrom("key_call0", "config:old", "budget_1"), text),
        query: objectOf(
          { properties: Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema])), required: [] },
          wrong,
        ),
        body: requestBody
          ? valueOf(requestBody.content["application/json"]!.schema, wrong)
          : fc.constant(undefined),
        headers: fc.record(
          { "idempotency-key": fc.constantFrom("a", "b"), "if-match": fc.constantFrom("*", '"0"') },
          { requiredKeys: [] },
        ),
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(request(false), request(true)), async ({ id, query, body, headers }) => {
        const given = fakeAdmin();
        const secret = given.addKey("call");
        given.addKey("call", "/", { id: "config:old", name: "old" });
        const search = new URLSearchParams(
          Object.entries(query as object).map(([name, value]) => [name, String(value)]),
        );
        const sent = path.replace("{id}", encodeURIComponent(id.toWellFormed()));
        const {
          status,
          text,
          body: answer,
        } = await given.send(method, `${sent}?${search.toString()}`, {
          headers,
          body: method === "GET" ? undefined : body,
        });
        expect(given.faults).toEqual([]);
        // There is no gateway here.
        if (status !== 503 || answer.error.code !== "gateway_failed") expect(status).toBeLessThan(500);
        for (const hidden of [secret, digestOf(secret), RUN_CREDENTIAL, digestOf(RUN_CREDENTIAL)])
          expect(text).not.toContain(hidden);
        if (status >= 400) {
          expect(schemaFaults(schemas["Error"], answer as Json, schemas)).toEqual([]);
          expect([...codes, "not_found", "changed", "idempotency_key_reused"]).toContain(answer.error.code);
        } else {
          const [described] = Object.values(responses);
          const [[type, content] = ["", { schema: {} }]] = Object.entries(described!.content);
          if (type === "application/json" && answer !== undefined)
            expect(schemaFaults(content.schema, answer as Json, schemas)).toEqual([]);
        }
      }),
      { numRuns: IS_LONG ? 60 : 12, seed: 13 },
    );
  });

test("bodies that are no JSON, too large or without a type are refused", async () => {
  const post = (body: string, headers = {}) => send("POST", "/admin/v1/keys", { body, headers });
  expect((await post("{")).status).toBe(400);
  expect((await post("[]")).status).toBe(400);
  expect((await post(`{"name":"${"x".repeat(2 ** 20)}"}`)).status).toBe(413);
  expect((await post(`{"name":"a","__proto__":{}}`)).status).toBe(400);
  expect((await send("GET", "/admin/v1/keys?limit=501")).body.error).toMatchObject({ path: "?limit" });
  expect((await send("GET", "/admin/v1/keys?limit=5&limit=6")).status).toBe(400);
  expect((await send("GET", "/admin/v1/keys?unknown=1")).body.error.path).toBe("?unknown");
});

test("the message of a wrong value names the place and what is expected, and does not repeat the value", async () => {
  const body = { name: "a", kind: "weir_sk_secret" };
  const { error } = (await send("POST", "/admin/v1/keys", { body })).body;
  expect(error).toEqual({
    code: "invalid_request",
    path: "/kind",
    message: "/kind: expected one of call, admin, read.",
  });
  const budget = { name: "b", on: { kind: "all", what: "" }, limit: 50 };
  const dollars = await send("POST", "/admin/v1/budgets", { body: budget });
  expect(dollars.body.error.message).toBe("Amounts are nano-dollars: $50 is 50000000000.");
});
