/** The operations on what providers keep for a key: list, read, change, delete. */
import type { CallRoute } from "../core/call.ts";
import { hasRequests, type KnownKind } from "../core/model-kind.ts";
import {
  deleteThing,
  getThing,
  type KeepingKind,
  type KeptOperation,
  listThings,
  updateThing,
} from "../gateway/caches/operations.ts";
import { ADMISSION, KEPT, MODEL, PROVIDER } from "./errors.ts";
import { askingFormat } from "./kind-operations.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { KEPT_ID, PAGE_SIZE, PAGE_TOKEN } from "./parameters.ts";
import { keptRoute } from "./routes/kept.ts";
import { formatOfRoute } from "./routes/kind.ts";
import type { RouteContext } from "./routes/generate.ts";

/** None for formats that ask no kind that keeps things. */
export function keptOperations(formats: readonly ClientFormat[], context: RouteContext): Operation[] {
  return [...context.gateway.registry.kinds.values()].flatMap((kind) => {
    const base = isKeeping(kind) && askingFormat(kind.routes[0]!, formats);
    return base ? operationsOf(kind as KeepingKind, base, context) : [];
  });
}

function isKeeping(kind: KnownKind): kind is KeepingKind {
  return hasRequests(kind) && kind.keeps !== undefined;
}

/** An operation without what all have in common. */
interface Own extends Pick<Operation, "method" | "id" | "summary" | "answer" | "parameters" | "request"> {
  handle: KeptOperation;
  /** It is one of the whole list. */
  isOfList?: true;
}

function operationsOf(kind: KeepingKind, base: ClientFormat, context: RouteContext): Operation[] {
  const [route] = kind.routes;
  const format = formatOfRoute(kind, route!, base);
  return ownOf(kind).map(({ handle, isOfList, ...own }) => {
    const paths = [route!.path, ...(route!.aliases ?? [])].map((one) => (isOfList ? one : `${one}/{id}`));
    const [path = "", ...aliases] = paths;
    const called: CallRoute = { method: own.method, path, operation: kind.id };
    return {
      ...{ path, aliases, access: "key", keyHeaders: base.client.routes.keyHeaders, isCall: true },
      ...{ formats: [base], errors: [...KEPT, ...MODEL, ...ADMISSION, ...PROVIDER] },
      handle: keptRoute(format, kind, context, handle, called),
      ...own,
    };
  });
}

function ownOf({ keeps: { id, words, schemas } }: KeepingKind): Own[] {
  const thing = { name: id, schema: schemas.thing };
  const parameters = [KEPT_ID];
  return [
    {
      ...{ method: "GET", id: `list${id}s`, summary: `List ${words}`, parameters: [PAGE_SIZE, PAGE_TOKEN] },
      ...{ answer: { name: `${id}List`, schema: schemas.list }, handle: listThings, isOfList: true },
    },
    {
      ...{ method: "GET", id: `get${id}`, summary: `Read one of the ${words}`, parameters },
      ...{ answer: thing, handle: getThing },
    },
    {
      ...{ method: "PATCH", id: `update${id}`, summary: `Change how long one of the ${words} is kept` },
      ...{ request: { name: `${id}Update`, schema: schemas.update } },
      ...{ parameters, answer: thing, handle: updateThing },
    },
    {
      ...{ method: "DELETE", id: `delete${id}`, summary: `Delete one of the ${words}`, parameters },
      ...{ answer: { name: `${id}Deleted`, schema: { type: "object" } }, handle: deleteThing },
    },
  ];
}
