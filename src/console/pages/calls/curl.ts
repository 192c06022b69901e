/** A call as a command for the shell. The key is a variable, and the prompt is not kept. */
import type { CallEntry } from "../../data/types.ts";
import { bodyOf, curlOf as commandOf, FORMATS, formatNamed } from "../../data/request.ts";

/** Most output tokens of the command. */
const LIMIT = 1_024;

/** @param gateway where the gateway listens */
export function curlOf({ format, model, stream }: CallEntry, gateway = "http://127.0.0.1:9347"): string {
  if (format === "embeddings") return commandOf(`${gateway}/v1/embeddings`, { model, input: "…" }, true);
  const known = formatNamed(format);
  const body = bodyOf({ model, format: known, system: "", prompt: "…", limit: LIMIT, stream });
  return commandOf(gateway + FORMATS[known], body, true);
}
