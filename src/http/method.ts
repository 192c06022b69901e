/** Properties of methods that the transport must know. */
import type { Method } from "./types.ts";

/** Whether requests of a method have a body. */
export function hasBody(method: Method = "POST"): boolean {
  return method === "POST" || method === "PUT";
}
