/** Asks a gateway what it would send, without sending it. */
import type { JsonObject } from "../../src/core/json.ts";

export interface Explained {
  served_by: { provider: string; lane: string; model: string; format: string | null };
  /** `changed`: in the native lane, the members that weir changes. Null for a provider that is a program. */
  request: { url: string; headers: Record<string, string>; body: JsonObject; changed?: string[] } | null;
  losses: { code: string; path: string; note?: string }[];
}

/** @param format of the client. @returns what weir would do, or the error that the client gets */
export async function explain(
  url: string,
  format: string,
  body: JsonObject,
): Promise<{ sent: Explained } | { refused: JsonObject }> {
  const response = await fetch(`${url}/v1/explain?format=${format}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as JsonObject;
  return response.ok ? { sent: answer as unknown as Explained } : { refused: answer.error as JsonObject };
}
