/** Gives the operations on calls what columns declare: members and facts of a call, and filters. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { Column, Columns, Fact } from "../core/column.ts";
import { CALL_FILTER } from "../operator/calls.ts";
import type { AdminOperation, AdminRequest, Reply } from "./operation.ts";

/** Wraps the operations whose query filters calls, and those that answer `Call` or `Calls`. */
export function withColumns(
  operations: readonly AdminOperation[],
  { list }: Columns,
): readonly AdminOperation[] {
  return operations.map((operation) => filtered(shown(operation, list), list));
}

/** The columns of a record as the admin API answers them. */
export function factsOf(record: object, list: readonly Column[]): Fact[] {
  return list.flatMap((column) => column.fact(record) ?? []);
}

function shown(operation: AdminOperation, list: readonly Column[]): AdminOperation {
  const { answer } = operation;
  if (!("name" in answer)) return operation;
  if (answer.name === "Call")
    return {
      ...operation,
      answer: { ...answer, schema: withMembers(answer.schema, list) },
      handle: async (request) => withJson(await operation.handle(request), (call) => withFacts(call, list)),
    };
  if (answer.name !== "Calls") return operation;
  const { calls, ...rest } = (answer.schema as TObject).properties;
  const members = { calls: Type.Array(withMembers(calls!["items"] as TSchema, list)), ...rest };
  return {
    ...operation,
    answer: { ...answer, schema: Type.Object(members) },
    async handle(request) {
      const reply = await operation.handle(request);
      return (request.query as { facts: boolean }).facts
        ? withJson(reply, (page) => withAllFacts(page as Page, list))
        : reply;
    },
  };
}

interface Page {
  calls: readonly object[];
}

function withAllFacts(page: Page, list: readonly Column[]): object {
  const columns = list.filter(({ isFact }) => isFact).map(({ name }) => name);
  return { ...page, calls: page.calls.map((call) => withFacts(call, list)), columns };
}

function withMembers(schema: TSchema, list: readonly Column[]): TObject {
  const { properties, ...options } = schema as TObject;
  const members = Object.entries(properties);
  for (const { name, schema: value, before } of list.filter(({ isStored }) => isStored)) {
    const at = members.findIndex(([member]) => member === before);
    members.splice(at < 0 ? members.length : at, 0, [name, Type.Optional(value)]);
  }
  return Type.Object(Object.fromEntries(members), options);
}

function withFacts(call: object, list: readonly Column[]): object {
  return { ...call, facts: factsOf(call, list) };
}

function withJson(reply: Reply, change: (json: object) => object): Reply {
  return "json" in reply ? { ...reply, json: change(reply.json as object) } : reply;
}

/** The values of columns in the query become one member of the filter. */
function filtered(operation: AdminOperation, list: readonly Column[]): AdminOperation {
  const { query } = operation;
  const filters = list.filter(({ filter }) => filter !== undefined);
  if (!query || filters.length === 0) return operation;
  if (!Object.keys(CALL_FILTER).every((name) => name in query.properties)) return operation;
  const parameters = filters.map(({ name, schema, filter }) => [
    name,
    Type.Optional({ ...schema, description: sentence(filter!.help) }),
  ]);
  return {
    ...operation,
    query: Type.Object(
      { ...query.properties, ...(Object.fromEntries(parameters) as Record<string, TSchema>) },
      { additionalProperties: false },
    ),
    handle: (request) => operation.handle({ ...request, query: gathered(request, filters) }),
  };
}

function gathered({ query }: AdminRequest, filters: readonly Column[]): unknown {
  const rest = { ...(query as Record<string, unknown>) };
  const columns: Record<string, unknown> = {};
  for (const { name } of filters) {
    if (rest[name] !== undefined) columns[name] = rest[name];
    delete rest[name];
  }
  return Object.keys(columns).length === 0 ? rest : { ...rest, columns };
}

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
