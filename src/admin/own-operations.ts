/** Puts the operations of features among those of every build. */
import { getCall } from "../operator/calls.ts";
import { type Overview, overview } from "../operator/overview.ts";
import { inOrder } from "./notes.ts";
import type { AdminOperation, NamedOperations } from "./operation.ts";

/**
 * @param core the operations of every build, in the order of the document
 * @param own each behind the operation that it names, in the order of the features
 * @throws Error with a sentence that names the feature, if an id or a path is taken
 */
export function withOwn(
  core: readonly AdminOperation[],
  own: readonly NamedOperations[],
): readonly AdminOperation[] {
  const all = [...core];
  for (const { feature, after, operations } of own) {
    const anchor = after.find((named) => all.some(({ id }) => id === named));
    const at = all.findIndex(({ id }) => id === anchor);
    if (at < 0)
      throw new Error(
        `the feature ${feature} has operations behind ${after.join(" or ")}, which weir does not have`,
      );
    for (const [index, operation] of operations.entries()) {
      const { id, method, path } = operation;
      if (all.some((one) => one.id === id))
        throw new Error(`the feature ${feature} declares the operation ${id}, which another one has`);
      if (all.some((one) => one.method === method && shapeOf(one.path) === shapeOf(path)))
        throw new Error(
          `the feature ${feature} declares the path ${method} ${path}, which another operation has`,
        );
      all.splice(at + 1 + index, 0, operation);
    }
  }
  return all;
}

/** Gives the answer of `getCall` the members that features know of a call. */
export function withOwnMembers(
  operations: readonly AdminOperation[],
  own: readonly NamedOperations[],
): readonly AdminOperation[] {
  return operations.map((operation) => {
    if (operation.id !== getCall.id) return operation;
    return {
      ...operation,
      async handle(request) {
        const reply = await operation.handle(request);
        if (!("json" in reply)) return reply;
        const call = reply.json as { id: string };
        const members = own.map((one) => one.ofCall?.(request.books, call.id));
        return { ...reply, json: Object.assign({}, call, ...members) as object };
      },
    };
  });
}

/** Gives the answer of `overview` the notes of features, one feature after another. */
export function withOwnNotes(
  operations: readonly AdminOperation[],
  own: readonly NamedOperations[],
): readonly AdminOperation[] {
  return operations.map((operation) => {
    if (operation.id !== overview.id) return operation;
    return {
      ...operation,
      async handle(request) {
        const reply = await operation.handle(request);
        if (!("json" in reply)) return reply;
        const view = reply.json as Overview;
        let { notes }: { notes: readonly Overview["notes"][number][] } = view;
        for (const one of own) notes = (await one.notes?.(request, notes)) ?? notes;
        return { ...reply, json: { ...view, notes: inOrder(notes) } };
      },
    };
  });
}

/** A path without the names of its parameters: two that differ in those alone are one route. */
const shapeOf = (path: string): string => path.replace(/\{\w+\}/g, "{}");
