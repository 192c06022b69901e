/** The OpenAPI document of the admin API, from its operations. */
import type { TObject, TSchema } from "@sinclair/typebox";
import type { Needs } from "../operator/contract.ts";
import type { AdminOperation } from "./operation.ts";

const DESCRIPTION =
  "Keys, budgets, rate limits and the ledger of a weir gateway. Amounts are integer nano-dollars (billionths of a US dollar), times are milliseconds since 1970, durations are milliseconds.";

/** Errors of every operation with a credential. */
const OF_ALL = ["invalid_request", "unauthorized", "forbidden", "too_many_tries", "store_failed"];
/** Errors of operations that change something, for requests with a session. */
const OF_SESSIONS = ["console_header_missing", "origin_not_allowed"];

export function openApiDocument(operations: readonly AdminOperation[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(operation);
  const named = operations.flatMap(({ answer }) => ("name" in answer ? [[answer.name, answer.schema]] : []));
  return {
    openapi: "3.1.0",
    info: { title: "weir admin API", version, description: DESCRIPTION },
    paths,
    components: {
      schemas: { ...(Object.fromEntries(named) as Record<string, TSchema>), Error: ERROR },
      securitySchemes: {
        key: { type: "http", scheme: "bearer" },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "weir_console_9348",
          description:
            "The console's. Its name has the port; requests other than GET need `x-weir-console: 1`.",
        },
      },
    },
  };
}

const ERROR = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string" },
        message: { type: "string", description: "One sentence." },
        path: { type: "string", description: "The part of the request that is wrong." },
      },
    },
  },
};

const WITH_KEY = [{ key: [] }, { session: [] }];
/** A scraper needs no key on a listener on loopback. */
const SECURITY: Readonly<Record<Needs["role"], readonly object[]>> = {
  ...{ none: [], scraper: [...WITH_KEY, {}], read: WITH_KEY, admin: WITH_KEY },
};
const ACCESS: Readonly<Record<Needs["role"], string>> = {
  ...{ none: "open", scraper: "scraper", read: "read", admin: "write" },
};

function describe(operation: AdminOperation) {
  const { id, summary, description, needs, query, body, answer, status = 200, method } = operation;
  const parameters = [...pathParameters(operation.path), ...queryParameters(query), ...headersOf(method)];
  const success =
    "text" in answer ? { [answer.text]: { schema: { type: "string" } } } : json(refer(answer.name));
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[needs.role],
    "x-access": ACCESS[needs.role],
    ...(needs.on === "gateway" && { "x-whole-gateway": true }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !operation.bodyOptional, content: json(body) } }),
    responses: {
      [status]: { description: summary, content: success },
      default: {
        description: "An error.",
        content: json(refer("Error")),
        "x-error-codes": [...OF_ALL, ...(method === "GET" ? [] : OF_SESSIONS), ...(operation.errors ?? [])],
      },
    },
  };
}

function pathParameters(path: string) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: TObject | undefined) {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    schema,
    // Lists are written with commas.
    ...(schema["type"] === "array" && { style: "form", explode: false }),
  }));
}

function headersOf(method: AdminOperation["method"]) {
  if (method === "GET") return [];
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  });
  return [
    header(
      "Idempotency-Key",
      "A request that is repeated with the same key within ten minutes gets the same answer and writes nothing. The answers are in memory only: a restart of the keeper forgets them.",
    ),
    ...(method === "POST"
      ? []
      : [header("If-Match", "`version` of the entry: refuses the change if it has changed.")]),
  ];
}

const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: unknown) => ({ "application/json": { schema } });
