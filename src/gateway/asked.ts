/** The members `model` and `stream` of a request, by the rules of the client's format. */
import type { ClientRoutes, RequestCheck } from "../core/format.ts";
import type { Json } from "../core/json.ts";
import type { Registry } from "./routing/registry.ts";

/** A listed model keeps an ending that clients of the format may add to every name. */
export function modelAsked(
  name: string,
  { impliedEnding }: ClientRoutes,
  registry: Pick<Registry, "models">,
): string {
  if (impliedEnding === undefined || !name.endsWith(impliedEnding)) return name;
  const bare = name.slice(0, -impliedEnding.length);
  return bare === "" || registry.models().some(({ id }) => id === name) ? name : bare;
}

export function streamAsked(stream: Json | undefined, { streamsByDefault }: RequestCheck): boolean {
  return streamsByDefault ? stream !== false : stream === true;
}
