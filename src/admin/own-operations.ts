/** Puts the operations of features among those of every build. */
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
    const at = all.findIndex(({ id }) => id === after);
    if (at < 0)
      throw new Error(`the feature ${feature} has operations behind ${after}, which weir does not have`);
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

/** A path without the names of its parameters: two that differ in those alone are one route. */
const shapeOf = (path: string): string => path.replace(/\{\w+\}/g, "{}");
