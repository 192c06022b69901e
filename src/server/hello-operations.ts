/** The operations by which clients see that a server answers. */
import type { JsonObject } from "../core/json.ts";
import type { MakePlain } from "./model-operations.ts";
import type { ClientFormat, Operation } from "./operation.ts";
import { createRequestId, respond } from "./respond.ts";
import { Hello } from "./schemas.ts";

export function helloOperations(
  formats: readonly ClientFormat[],
  version: string,
  plain: MakePlain,
): Operation[] {
  const greeting = Object.assign({}, ...formats.map(({ client }) => client.routes.greeting)) as JsonObject;
  return ["/", "/api/hello"].flatMap((path) => [
    plain(
      {
        method: "GET",
        path,
        id: path === "/" ? "hello" : "helloApi",
        summary: "Name and version",
        access: "anyone",
        answer: { name: "Hello", schema: Hello },
        errors: [],
      },
      () => ({ name: "weir", version, openapi: "/openapi.json", ...(path === "/" && greeting) }),
    ),
    plain(
      {
        method: "HEAD",
        path,
        id: path === "/" ? "ping" : "pingApi",
        summary: "Whether weir answers",
        access: "anyone",
        errors: [],
      },
      () => respond({ status: 200, constant: {}, headers: {}, body: "" }, createRequestId()),
    ),
  ]);
}
