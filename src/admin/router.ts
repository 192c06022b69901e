/** Finds the operation of a request. */
import type { AdminOperation } from "./operation.ts";

export type Found =
  | { operation: AdminOperation; params: Record<string, string> }
  /** The path exists with other methods. */
  | { allow: string }
  | undefined;

export class Router {
  readonly #routes: readonly { operation: AdminOperation; pattern: RegExp; names: readonly string[] }[];

  constructor(operations: readonly AdminOperation[]) {
    // A fixed segment comes before a parameter.
    const sorted = [...operations].sort((a, b) => a.path.split("{").length - b.path.split("{").length);
    this.#routes = sorted.map((operation) => ({ operation, ...patternOf(operation.path) }));
  }

  find(method: string, path: string): Found {
    const matching = this.#routes.filter(({ pattern }) => pattern.test(path));
    const route = matching.find(({ operation }) => operation.method === method);
    if (route) return { operation: route.operation, params: paramsOf(route, path) };
    const allow = [...new Set(matching.map(({ operation }) => operation.method))].join(", ");
    return allow === "" ? undefined : { allow };
  }
}

function patternOf(path: string): { pattern: RegExp; names: string[] } {
  const names: string[] = [];
  const parts = path.split(/(\{\w+\})/).map((part) => {
    if (!part.startsWith("{")) return RegExp.escape(part);
    names.push(part.slice(1, -1));
    return "([^/]+)";
  });
  return { pattern: new RegExp(`^${parts.join("")}$`), names };
}

function paramsOf(
  { pattern, names }: { pattern: RegExp; names: readonly string[] },
  path: string,
): Record<string, string> {
  const [, ...values] = pattern.exec(path) ?? [];
  return Object.fromEntries(names.map((name, index) => [name, decoded(values[index] ?? "")]));
}

/** A text that is no valid escape names itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
