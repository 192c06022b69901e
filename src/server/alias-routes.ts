/**
 * Routes at the further paths of operations. They are not routes of Elysia, which compiles a handler for each route when it
 * starts: with them every start would take milliseconds longer.
 */
import { patternOf } from "./operation.ts";
import type { ServedRoute } from "./served-routes.ts";

interface PatternRoute {
  pattern: RegExp;
  route: ServedRoute;
}

export class AliasRoutes {
  /** Routes whose paths have no parameter, by method and path. */
  readonly #exact = new Map<string, ServedRoute>();
  readonly #withParameters: ServedRoute[] = [];
  /** Compiled for the first request that needs them. */
  #patterns: PatternRoute[] | undefined;

  constructor(routes: readonly ServedRoute[]) {
    for (const route of routes)
      if (route.template.includes("{")) this.#withParameters.push(route);
      else this.#exact.set(`${route.method} ${route.template}`, route);
  }

  /** @returns `undefined` if no route matches */
  answer(request: Request, path: string): Response | Promise<Response> | undefined {
    const { method } = request;
    const route = this.#exact.get(`${method} ${path}`) ?? this.#matching(method, path);
    return route?.handle(request);
  }

  #matching(method: string, path: string): ServedRoute | undefined {
    this.#patterns ??= this.#withParameters.map((route) => ({ pattern: patternOf(route.template), route }));
    return this.#patterns.find(({ pattern, route }) => route.method === method && pattern.test(path))?.route;
  }
}
