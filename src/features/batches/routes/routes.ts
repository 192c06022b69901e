/** Answers the operations of batches. The code of a dialect is loaded with its first request. */
import type { Visit } from "../../../gateway/seams.ts";
import type { DeclaredRoute, Dialect, Does } from "../declarations.ts";
import { priorityOf } from "../priority.ts";
import type { Batches, Handle } from "./create.ts";

const DIALECTS: Readonly<Record<Dialect, () => Promise<Partial<Record<Does, Handle>>>>> = {
  openai: () => import("./openai.ts"),
  anthropic: () => import("./anthropic.ts"),
  google: () => import("./google.ts"),
};

export async function answer(
  { of, does, isShared }: DeclaredRoute,
  batches: Omit<Batches, "priority">,
  request: Request,
  visit: Visit,
): Promise<Response> {
  const handlers = await DIALECTS[isShared && visit.vendor === "google" ? "google" : of]();
  return handlers[does]!({ ...batches, priority: () => priorityOf(request) }, request, visit);
}
