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
import { ADMISSION, KEPT, PROVIDER } from "./errors.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { KEPT_ID, PAGE_SIZE, PAGE_TOKEN } from "./parameters.ts";
import { keptRoute } from "./routes/kept.ts";
import { formatOfRoute } from "./routes/kind.ts";
import type { RouteContext } from "./routes/generate.ts";

/** None for formats that ask no kind that keeps things. */
export function keptOperations(formats: readonly ClientFormat[], context: RouteContext): Operation[] {
  return [...context.gateway.registry.kinds.values()].flatMap((kind) => {
    if (!isKeeping(kind)) return [];
    const base = formats.find(({ id }) => id === kind.routes[0]!.of);
    return base ? operationsOf(kind, base, context) : [];
  });
}

function isKeeping(kind: KnownKind): kind is KeepingKind {
  return hasRequests(kind) && kind.keeps !== undefined;
}

function operationsOf(kind: KeepingKind, base: ClientFormat, context: RouteContext): Operation[] {
  const [route] = kind.routes;
  const { id, words, schemas } = kind.keeps;
  const format = formatOfRoute(kind, route!, base);
  const thing = { name: id, schema: schemas.thing };
  const operation = (
    own: Pick<Operation, "method" | "id" | "summary" | "answer" | "parameters"> & Partial<Operation>,
    handle: KeptOperation,
    isOne = true,
  ): Operation => {
    const paths = [route!.path, ...(route!.aliases ?? [])].map((base) => (isOne ? `${base}/{id}` : base));
    const [path = "", ...aliases] = paths;
    const called: CallRoute = { method: own.method, path, operation: kind.id };
    return {
      ...{
        path,
        aliases,
        access: "key",
        keyHeaders: base.client.routes.keyHeaders,
        isCall: true,
        formats: [base],
      },
      errors: [...KEPT, ...ADMISSION, ...PROVIDER],
      handle: keptRoute(format, kind, context, handle, called),
      ...own,
    };
  };
  return [
    operation(
      {
        ...{ method: "GET", id: `list${id}s`, summary: `List ${words}`, parameters: [PAGE_SIZE, PAGE_TOKEN] },
        answer: { name: `${id}List`, schema: schemas.list },
      },
      listThings,
      false,
    ),
    operation(
      {
        ...{ method: "GET", id: `get${id}`, summary: `Read one of the ${words}` },
        answer: thing,
        parameters: [KEPT_ID],
      },
      getThing,
    ),
    operation(
      {
        ...{ method: "PATCH", id: `update${id}`, summary: `Change how long one of the ${words} is kept` },
        ...{ answer: thing, parameters: [KEPT_ID] },
        request: { name: `${id}Update`, schema: schemas.update },
      },
      updateThing,
    ),
    operation(
      {
        ...{
          method: "DELETE",
          id: `delete${id}`,
          summary: `Delete one of the ${words}`,
          parameters: [KEPT_ID],
        },
        answer: { name: `${id}Deleted`, schema: { type: "object" } },
      },
      deleteThing,
    ),
  ];
}
