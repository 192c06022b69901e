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
  state: () => string,
): Operation[] {
  const greeting = Object.assign({}, ...formats.map(({ client }) => client.routes.greeting)) as JsonObject;
  return [...probes(plain, state), ...hellos(version, greeting, plain)];
}

/** What orchestrators and gateways for one vendor answer, as a word. */
function probes(plain: MakePlain, state: () => string): Operation[] {
  const probe = (path: string, id: string, summary: string, answer: () => Response) =>
    plain(
      {
        ...{ method: "GET", path, id, summary, access: "anyone", errors: [] },
        answer: { name: "Word", schema: { type: "string" }, mediaType: "text/plain" },
      },
      answer,
    );
  const word = (text: string, status = 200) =>
    respond(
      { status, constant: {}, headers: { "content-type": "text/plain" }, body: text },
      createRequestId(),
    );
  return [
    probe("/healthz", "alive", "Whether weir runs", () => word("ok")),
    probe("/readyz", "ready", "Whether weir accepts calls", () =>
      state() === "ok" ? word("ready") : word(state(), 503),
    ),
  ];
}

function hellos(version: string, greeting: JsonObject, plain: MakePlain): Operation[] {
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
