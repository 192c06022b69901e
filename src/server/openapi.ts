/** The OpenAPI document, from what the routes declare in Elysia. */
import type { CallHeader } from "../core/call-header.ts";
import type { DocumentedError } from "../core/error.ts";
import { GatewayError } from "../core/error.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject } from "../core/json.ts";
import { KEY_HEADERS } from "./presented.ts";
import { ANY, BODY, FORMS, KEY } from "./errors.ts";
import type { ClientFormat, NamedSchema, Operation, Parameter, Schema } from "./operation.ts";
import { pascalCase } from "./operation.ts";

/** A route as Elysia records it, with the OpenAPI operation that it declares. */
export interface DeclaredRoute {
  method: string;
  path: string;
  /** `hide`: the route is no operation. `methods`: the operations by the method at the end of the path. */
  detail: JsonObject;
}

/** What the descriptions of operations depend on. */
export interface Described {
  /** Whether weir has gateway keys. */
  keyed: boolean;
  /** Whether there are forms of credentials beside keys. */
  hasForms: boolean;
  /** Headers of calls that features declare. */
  headers: readonly CallHeader[];
}

export interface Document extends Pick<Described, "headers"> {
  schemas: Readonly<Record<string, Schema>>;
  version: string;
  /** All headers that may hold a gateway key; none if weir has no keys. */
  keyHeaders: readonly string[];
}

export function openApiDocument(
  routes: readonly DeclaredRoute[],
  { schemas, version, keyHeaders, headers }: Document,
): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const { method, path, detail } of routes) {
    if (detail.hide === true) continue;
    for (const [end, operation] of operationsOf(detail))
      (paths[documentedPath(path, operation) + end] ??= {})[method.toLowerCase()] = operation;
  }
  return {
    openapi: "3.1.0",
    info: { title: "weir", version, description: DESCRIPTION },
    paths,
    components: {
      schemas: schemas as unknown as JsonObject,
      headers: { ...IDS, ...RETRIES, ...ofCalls(headers) },
      ...(keyHeaders.length > 0 && { securitySchemes: securitySchemes(keyHeaders) }),
    },
  };
}

const DESCRIPTION =
  "A gateway for language-model generation. Each response with an error lists the codes that weir gives it under `x-error-codes`; a provider may have codes of its own.";

/** The operations of a route, with the end of their paths. */
function operationsOf(detail: JsonObject): [end: string, operation: JsonObject][] {
  if (!isObject(detail.methods)) return [["", detail]];
  return Object.entries(detail.methods).map(([name, operation]) => [`:${name}`, operation as JsonObject]);
}

/** One scheme for each header that may hold a key. */
function securitySchemes(keyHeaders: readonly string[]): JsonObject {
  const scheme = (name: string): JsonObject =>
    name === "authorization" ? { type: "http", scheme: "bearer" } : { type: "apiKey", in: "header", name };
  return Object.fromEntries(keyHeaders.map((name) => [name, scheme(name)]));
}

/** The headers that may hold the key of an operation; none for an operation that anyone may call. */
export function keyHeadersOf({ access, keyHeaders = KEY_HEADERS }: Operation): readonly string[] {
  return access === "key" ? keyHeaders : [];
}

/** The path as Elysia writes it. @param template path of an operation without the method at its end */
export function routePath(template: string): string {
  return template.replace(/\{\+\w+\}$/, "*").replace(/\{(\w+)\}/g, ":$1");
}

/** The reverse of {@link routePath}: the rest of a path has the name of the operation's path parameter. */
function documentedPath(path: string, { parameters }: JsonObject): string {
  const inPath = (Array.isArray(parameters) ? parameters : []).find(
    (parameter) => isObject(parameter) && parameter.in === "path",
  );
  const named = path.replace(/:(\w+)/g, "{$1}");
  return isObject(inPath) ? named.replace(/\*$/, `{${String(inPath.name)}}`) : named;
}

/** The schemas that operations name, by name. */
export function schemasOf(operations: readonly Operation[]): Record<string, Schema> {
  const named = operations.flatMap(({ request, answer, event }) => [request, answer, event]);
  const formats = new Set(operations.flatMap((operation) => operation.formats));
  const errors = [...formats].map(errorSchema);
  return Object.fromEntries(
    [...named, ...errors].flatMap((entry) => (entry ? [[entry.name, entry.schema]] : [])),
  );
}

function errorSchema({ id, client }: ClientFormat): NamedSchema {
  return { name: `${pascalCase(id)}Error`, schema: client.request.schemas?.error ?? {} };
}

/** The OpenAPI operation that a route declares as its `detail`. */
export function describeOperation(operation: Operation, api: Described): JsonObject {
  const { keyed } = api;
  const { id, summary, description, parameters = [], request, takesForm } = operation;
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    ...(keyed && { security: keyHeadersOf(operation).map((name) => ({ [name]: [] })) }),
    ...(parameters.length > 0 && { parameters: parameters.map(describeParameter) }),
    ...(request && { requestBody: { required: true, content: contentOf(request, takesForm) } }),
    // Computed when the document is read: a start should not wait for it.
    get responses() {
      return { ...describeAnswers(operation, api), ...describeErrors(operation, api) };
    },
  };
}

function describeParameter(parameter: Parameter): JsonObject {
  return { ...parameter } as unknown as JsonObject;
}

function describeAnswers(operation: Operation, api: Described): JsonObject {
  const { summary, statuses, answer, event, isCall } = operation;
  const content = answer && {
    ...body(referTo(answer), answer.mediaType),
    ...(event && describeStream(event, operation)),
  };
  return mapValues(statuses ?? { 200: `${summary}.` }, (description) => ({
    description,
    headers: { ...REQUEST_ID, ...(isCall && references(ofCalls(api.headers))) },
    ...(content && { content }),
  }));
}

/** JSON, and a form with the same members. */
function contentOf(request: NamedSchema, takesForm = false): JsonObject {
  const schema = referTo(request);
  return { ...json(schema), ...(takesForm && { "multipart/form-data": { schema } }) };
}

/** A stream, by one of its pieces. */
function describeStream(event: NamedSchema, operation: Operation): JsonObject {
  const { formats } = operation;
  if (!formats.some(({ client }) => client.codec.framing.lines))
    return { "text/event-stream": { schema: describeEvent(event, operation) } };
  const schemas = [event, ...formats.map(errorSchema)].map(referTo);
  const description = "One line. A line with an error is the last one.";
  return { "application/x-ndjson": { schema: { description, anyOf: schemas } } };
}

/** One server-sent event, whose data is JSON. */
function describeEvent(event: NamedSchema, { formats, terminator }: Operation): JsonObject {
  const schemas = [event, ...formats.map(errorSchema)].map(referTo);
  const data: JsonObject = {
    type: "string",
    contentMediaType: "application/json",
    contentSchema: anyOf(schemas),
  };
  return {
    type: "object",
    description: "One server-sent event, by its fields. An event with an error is the last one.",
    required: ["data"],
    properties: {
      event: { type: "string" },
      data: terminator === undefined ? data : anyOf([{ const: terminator }, data]),
    },
  };
}

/** Errors by status. The status of a kind of error depends on the format. */
function describeErrors(operation: Operation, api: Described): JsonObject {
  const byStatus: Record<string, DocumentedError[]> = {};
  for (const error of errorsOf(operation, api))
    for (const status of new Set(operation.formats.map((format) => statusOf(error, format))))
      (byStatus[status] ??= []).push(error);
  const { method, formats, isCall } = operation;
  const content = method !== "HEAD" && json(anyOf(formats.map((format) => referTo(errorSchema(format)))));
  const response = (description: string) => ({
    description,
    headers: { ...REQUEST_ID, ...RETRY, ...(isCall && references(ofCalls(api.headers))) },
    ...(content && { content }),
  });
  return {
    ...mapValues(byStatus, (errors) => ({
      ...response(errors.map(describeError).join("\n")),
      [ERROR_CODES]: [...new Set(errors.flatMap(({ code }) => code ?? []))],
    })),
    ...(operation.event && { default: response("Another status of the provider, which weir passes on.") }),
  };
}

/** Extension of a response: the codes that its error may have. Providers may have codes of their own. */
const ERROR_CODES = "x-error-codes";

/** All errors that an operation may answer with. */
export function errorsOf(
  { access, request, errors }: Operation,
  { keyed, hasForms }: Pick<Described, "keyed" | "hasForms">,
): readonly DocumentedError[] {
  const key = keyed && access === "key" ? [...KEY, ...(hasForms ? FORMS : [])] : [];
  return [...ANY, ...key, ...(request ? BODY : []), ...errors];
}

function statusOf({ kind, status }: DocumentedError, { client }: ClientFormat): number {
  return client.codec.encodeError(new GatewayError(kind, "", { status }), "").status;
}

function describeError({ code, when }: DocumentedError): string {
  return code === undefined ? `- ${when}` : `- \`${code}\`: ${when}`;
}

const refer = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const referTo = ({ name }: NamedSchema): JsonObject => refer(name);
const body = (schema: JsonObject, mediaType = "application/json"): JsonObject => ({
  [mediaType]: { schema },
});
const json = (schema: JsonObject): JsonObject => body(schema);
const anyOf = (schemas: JsonObject[]): JsonObject =>
  schemas.length === 1 ? schemas[0]! : { anyOf: schemas };

function mapValues<Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => Json): JsonObject {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

const text = (description: string, required = false): JsonObject => ({
  description,
  schema: { type: "string" },
  ...(required && { required }),
});

const IDS: Record<string, JsonObject> = {
  "x-request-id": text("Id of the request in weir's log.", true),
  "request-id": text("The same id.", true),
};
const RETRIES: Record<string, JsonObject> = {
  "retry-after": text("Seconds until a retry makes sense."),
  "retry-after-ms": text("The same in milliseconds, for a rate limit of weir."),
  "x-should-retry": text("Whether a retry makes sense: `true` or `false`."),
};

/** The headers of answers to calls. @param own those that features declare */
function ofCalls(own: readonly CallHeader[]): Record<string, JsonObject> {
  return {
    "x-weir-provider": text("The provider that served the call."),
    "x-weir-deployment": text("Its deployment, if that has a name of its own."),
    "x-weir-model": text("The model as the provider names it."),
    "x-weir-lane": text("`native`, `translated` or `generated`."),
    "x-weir-warnings": text("What could not be translated: `code:path, code:path`."),
    "x-weir-attempts": text("Number of attempts, if one failed."),
    "x-weir-tried": text("The attempts that failed."),
    ...Object.fromEntries(own.flatMap(({ name, answer }) => (answer ? [[name, text(answer)]] : []))),
    "x-weir-skipped": text("Deployments whose circuit breaker was open."),
  };
}

/** References to headers among the components of the document. */
const references = (headers: Readonly<Record<string, JsonObject>>): JsonObject =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const REQUEST_ID = references(IDS);
const RETRY = references(RETRIES);
