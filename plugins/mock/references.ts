/** Resolves a `$ref` inside a JSON schema; never fetches anything. */
import type { Json, JsonObject } from "weir";
import { isObject } from "weir";

/** Resolves a JSON pointer (`#/$defs/Node`), an anchor (`#node`) or an `$id`; `undefined` if there is no such part. */
export function resolveReference(reference: string, root: JsonObject): Json | undefined {
  if (reference === "#") return root;
  if (reference.startsWith("#/")) return follow(reference.slice(2).split("/"), root);
  const isMeant = (part: JsonObject) => part.$id === reference || `#${part.$anchor}` === reference;
  return findPart(root, isMeant, { left: MAX_PARTS });
}

/** Returns an own member of an object: a schema may have a property named `constructor`. */
export function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const MAX_PARTS = 5000;

function follow(names: readonly string[], root: JsonObject): Json | undefined {
  return names
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~").replaceAll("%20", " "))
    .reduce<Json | undefined>(
      (found, name) => (Array.isArray(found) ? found[Number(name)] : memberOf(found, name)),
      root,
    );
}

function findPart(
  value: Json | undefined,
  isMeant: (part: JsonObject) => boolean,
  budget: { left: number },
): JsonObject | undefined {
  if (typeof value !== "object" || value === null || budget.left-- <= 0) return undefined;
  if (isObject(value) && isMeant(value)) return value;
  for (const part of Object.values(value)) {
    const found = findPart(part, isMeant, budget);
    if (found) return found;
  }
  return undefined;
}
