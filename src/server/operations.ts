/**
 * The operations that weir offers its clients: the table of contents of the server. The routes, the allowed methods of each
 * path, the corrections of misspelled paths and the OpenAPI document all come from this list.
 */
import type { CallHeader } from "../core/call-header.ts";
import type { ClientCodec } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import { KEY_HEADERS } from "./presented.ts";
import type { AnswerOperation } from "../gateway/stored/operations.ts";
import { cancelAnswer, deleteAnswer, listInputItems, retrieveAnswer } from "../gateway/stored/operations.ts";
import { conversationOperations } from "./conversation-operations.ts";
import { documentOperations } from "./document-operations.ts";
import { ADMISSION, CONTINUED, EXPLAIN, MODEL, PROVIDER, STORED, TIMEOUT, TRANSLATION } from "./errors.ts";
import { helloOperations } from "./hello-operations.ts";
import { keyOperation } from "./key-operation.ts";
import { localOperations } from "./local-operations.ts";
import { type MakePlain, modelOperations } from "./model-operations.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { pascalCase } from "./operation.ts";
import {
  AFTER_ITEM,
  ANSWER_ID,
  callHeaders,
  clientHeader,
  formatName,
  ITEM_LIMIT,
  ITEM_ORDER,
  STRICT,
  URL_MODEL,
} from "./parameters.ts";
import { createRequestId, respondJson } from "./respond.ts";
import { explainRoute } from "./routes/explain.ts";
import type { RouteContext } from "./routes/generate.ts";
import { compactRoute, countRoute, generateRoute, streamRoute } from "./routes/generate.ts";
import { embedOperations } from "./embed-operations.ts";
import { kindOperations } from "./kind-operations.ts";
import { keptOperations } from "./kept-operations.ts";
import { plainRoute } from "./routes/plain.ts";
import { storedRoute } from "./routes/stored.ts";
import { aliasesOf } from "./served-routes.ts";
import { AnswerDeleted, Explanation, Health, ItemList } from "./schemas.ts";

export interface OperationsContext extends RouteContext {
  /** Headers of calls that features declare. */
  headers: readonly CallHeader[];
  version: string;
  /** `starting`: signals are not handled yet, or other commands do not find it; `draining`: it stops after the running calls. */
  state(): "starting" | "ok" | "draining";
  /** Parts that do not work at the moment, while calls go on: `ledger`. */
  degraded?(): readonly string[];
  /** The codec for the errors of an operation that belongs to no format. */
  codecOf(request: Request): ClientCodec;
  /** The OpenAPI document. */
  document(): JsonObject;
}

export function listOperations(formats: readonly ClientFormat[], context: OperationsContext): Operation[] {
  const { version, state } = context;
  const { catalog, ledger } = context.gateway;
  const keyHeaders = [
    ...new Set([...KEY_HEADERS, ...formats.flatMap(({ client }) => client.routes.keyHeaders ?? [])]),
  ];

  const plain: MakePlain = (operation, answer) => ({
    ...operation,
    ...(operation.access === "key" && { keyHeaders }),
    formats,
    handle: plainRoute(operation, context, answer, keyHeaders),
  });

  return [
    ...formats.map((format) => generate(format, context)),
    ...formats.flatMap((format) => stream(format, context)),
    ...formats.flatMap((format) => count(format, context)),
    ...formats.flatMap((format) => compact(format, context)),
    ...formats.flatMap((format) => embedOperations(format, context)),
    ...kindOperations(formats, context),
    ...keptOperations(formats, context),
    ...formats.flatMap((format) => stored(format, context)),
    ...formats.flatMap((format) => conversationOperations(format, context)),
    {
      method: "POST",
      path: "/v1/explain",
      id: "explain",
      summary: "Explain a request",
      description: "Who would serve the request, what weir would send, and what would be lost.",
      access: "key",
      parameters: [formatName(formats), STRICT],
      request: { name: "ExplainRequest", schema: anyRequest(formats) },
      answer: { name: "Explanation", schema: Explanation },
      formats,
      errors: [
        ...MODEL,
        ...TRANSLATION,
        ...EXPLAIN,
        ...formats.flatMap(({ client }) => client.request.errors ?? []),
      ],
      keyHeaders,
      handle: explainRoute(formats, context, keyHeaders),
    },
    ...modelOperations(formats, catalog, plain),
    ...localOperations(formats, context, plain),
    keyOperation(formats, ledger, plain),
    ...documentOperations(plain, context.document),
    plain(
      {
        method: "GET",
        path: "/health",
        id: "health",
        summary: "Health",
        access: "anyone",
        answer: { name: "Health", schema: Health },
        statuses: {
          200: "weir accepts calls.",
          503: "weir starts, or finishes the running calls and then stops.",
        },
        errors: [],
      },
      () => health(state(), version, context.degraded?.() ?? []),
    ),
    ...helloOperations(formats, version, plain, state),
  ];
}

function generate(format: ClientFormat, context: OperationsContext): Operation {
  const {
    routes: { path, address, keyHeaders, clientHeaders = [] },
    request: { schema, schemas, errors = [] },
    beside: { stored },
  } = format.client;
  const name = pascalCase(format.id);
  return {
    method: "POST",
    path,
    aliases: aliasesOf(format.client.routes, path),
    id: `generate${name}`,
    summary: `Generate (${format.id})`,
    description: `Generates the next message of a conversation${streamSentence(format.client)}. If the provider speaks this format, its answer reaches the client as the provider wrote it.`,
    access: "key",
    keyHeaders,
    parameters: [
      ...(address ? [URL_MODEL] : []),
      STRICT,
      ...callHeaders(context.headers, "generate"),
      ...clientHeaders.map(clientHeader),
    ],
    request: { name: `${name}Request`, schema },
    answer: { name: `${name}Answer`, schema: schemas?.answer ?? {} },
    ...(!address && { event: { name: `${name}Event`, schema: schemas?.event ?? {} } }),
    terminator: schemas?.terminator,
    isCall: true,
    formats: [format],
    errors: [...MODEL, ...TRANSLATION, ...ADMISSION, ...PROVIDER, ...(stored ? CONTINUED : []), ...errors],
    handle: generateRoute(format, context),
  };
}

/** How a request selects a stream. */
function streamSentence({ routes: { address }, request: { streamsByDefault }, codec }: ClientCodec): string {
  const { lines: streamsLines } = codec.framing;
  if (address) return "";
  const framing = streamsLines ? "one JSON value in each line" : "server-sent events";
  return streamsByDefault
    ? `, as ${framing} unless \`stream\` is false`
    : `; \`stream: true\` selects ${framing}`;
}

/** No operation for a format whose body selects a stream. */
function stream(format: ClientFormat, context: OperationsContext): Operation[] {
  const {
    routes: { address },
    request: { schemas },
  } = format.client;
  if (!address) return [];
  const name = pascalCase(format.id);
  const operation: Operation = {
    ...generate(format, context),
    path: address.stream,
    aliases: aliasesOf(format.client.routes, address.stream),
    id: `stream${name}`,
    summary: `Generate a stream (${format.id})`,
    answer: {
      name: `${name}Stream`,
      schema: { type: "array", items: { anyOf: [schemas?.event ?? {}, schemas?.error ?? {}] } },
    },
    event: { name: `${name}Event`, schema: schemas?.event ?? {} },
    handle: streamRoute(format, context),
  };
  return [operation];
}

/** No operation for a format that does not count. */
function count(format: ClientFormat, context: RouteContext): Operation[] {
  const {
    routes: { address, keyHeaders, clientHeaders = [] },
    request: { schema, errors = [] },
    beside: { count: counting },
  } = format.client;
  if (!counting) return [];
  const { path, schemas } = counting;
  const name = pascalCase(format.id);
  const operation: Operation = {
    method: "POST",
    path,
    aliases: aliasesOf(format.client.routes, path),
    id: `count${name}Tokens`,
    summary: `Count tokens (${format.id})`,
    description: "The input tokens of a request: counted by the provider if it can, else estimated by weir.",
    access: "key",
    keyHeaders,
    parameters: [...(address ? [URL_MODEL] : []), ...clientHeaders.map(clientHeader)],
    request: { name: `${name}CountRequest`, schema: schemas?.request ?? schema },
    answer: { name: `${name}Count`, schema: schemas?.answer ?? {} },
    isCall: true,
    formats: [format],
    errors: [...MODEL, ...ADMISSION, ...TIMEOUT, ...errors],
    handle: countRoute(format, context),
  };
  return [operation];
}

/** No operation for a format without compaction. */
function compact(format: ClientFormat, context: OperationsContext): Operation[] {
  const {
    routes: { keyHeaders },
    request: { errors = [] },
    beside: { compaction, stored },
  } = format.client;
  if (!compaction) return [];
  const { path, schemas } = compaction;
  const name = pascalCase(format.id);
  const operation: Operation = {
    method: "POST",
    path,
    aliases: aliasesOf(format.client.routes, path),
    id: `compact${name}`,
    summary: `Compact a conversation (${format.id})`,
    description:
      "Replaces a conversation by an item that stands for it. A provider that cannot do this writes a summary.",
    access: "key",
    keyHeaders,
    parameters: [STRICT, ...callHeaders(context.headers, "compact")],
    request: { name: `${name}CompactRequest`, schema: schemas.request },
    answer: { name: `${name}Compaction`, schema: schemas.answer },
    isCall: true,
    formats: [format],
    errors: [...MODEL, ...TRANSLATION, ...ADMISSION, ...PROVIDER, ...(stored ? CONTINUED : []), ...errors],
    handle: compactRoute(format, context),
  };
  return [operation];
}

/** The operations on stored answers; none for a format without them. */
function stored(format: ClientFormat, context: RouteContext): Operation[] {
  const {
    routes: { path, keyHeaders },
    request: { schemas },
    beside: { stored: codec },
  } = format.client;
  if (!codec) return [];
  const name = pascalCase(format.id);
  const operation = (
    own: Pick<Operation, "method" | "id" | "summary" | "answer"> & Partial<Operation>,
    below: string,
    handle: AnswerOperation,
  ): Operation => ({
    path: `${path}/{id}${below}`,
    aliases: aliasesOf(format.client.routes, `${path}/{id}${below}`),
    access: "key",
    keyHeaders,
    isCall: true,
    formats: [format],
    errors: [...STORED, ...ADMISSION, ...PROVIDER],
    handle: storedRoute(format, context, handle, {
      method: own.method,
      path: `${path}/{id}${below}`,
      operation: "chat",
    }),
    ...own,
    parameters: [ANSWER_ID, ...(own.parameters ?? [])],
  });
  const answer = { name: `${name}Answer`, schema: schemas?.answer ?? {} };
  return [
    operation(
      { method: "GET", id: `retrieve${name}Answer`, summary: `Retrieve an answer (${format.id})`, answer },
      "",
      retrieveAnswer,
    ),
    operation(
      {
        method: "DELETE",
        id: `delete${name}Answer`,
        summary: `Delete an answer (${format.id})`,
        answer: { name: `${name}Deleted`, schema: AnswerDeleted },
      },
      "",
      deleteAnswer,
    ),
    operation(
      {
        method: "POST",
        id: `cancel${name}Answer`,
        summary: `Cancel an answer that is generated in the background (${format.id})`,
        answer,
      },
      `/${codec.paths.cancel}`,
      cancelAnswer,
    ),
    ...(codec.paths.inputItems === undefined
      ? []
      : [
          operation(
            {
              method: "GET",
              id: `list${name}InputItems`,
              summary: `List the input items of an answer (${format.id})`,
              answer: { name: `${name}ItemList`, schema: ItemList },
              parameters: [ITEM_LIMIT, ITEM_ORDER, AFTER_ITEM],
            },
            `/${codec.paths.inputItems}`,
            listInputItems,
          ),
        ]),
  ];
}

/** The schema of a body of any format. */
function anyRequest(formats: readonly ClientFormat[]): JsonObject {
  return {
    anyOf: formats.map(({ id, client }) => {
      const { idle } = client.request;
      const schema = { $ref: `#/components/schemas/${pascalCase(id)}Request` };
      return idle ? { allOf: [schema, idle.others] } : schema;
    }),
  };
}

function health(status: string, version: string, degraded: readonly string[]): Response {
  const state = { status, version, ...(degraded.length > 0 && { degraded }) };
  return respondJson(state, createRequestId(), status === "ok" ? 200 : 503);
}
