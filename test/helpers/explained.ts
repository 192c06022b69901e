/** Asks a gateway what it would send, without sending it. */
import type { JsonObject } from "../../src/core/json.ts";

export interface Explained {
  served_by: { provider: string; lane: string; model: string; format: string | null };
  /** `changed`: in the native lane, the members that weir changes. Null for a provider that is a program. */
  request: { url: string; headers: Record<string, string>; body: JsonObject; changed?: string[] } | null;
  losses: { code: string; path: string; note?: string }[];
}

/** What weir would do, or the error that the client gets. */
export type Answered = { sent: Explained } | { refused: JsonObject };

/** @param format of the client */
export async function explain(url: string, format: string, body: JsonObject): Promise<Answered> {
  return explainedBy(await fetch(explainRequest(url, format, body)));
}

/** @param format of the client */
export function explainRequest(url: string, format: string, body: JsonObject): Request {
  return new Request(`${url}/v1/explain?format=${format}`, {
    method: "POST",
    headers: { host: new URL(url).host, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** @throws Error where weir failed: that is no answer about the request */
export async function explainedBy(response: Response): Promise<Answered> {
  if (response.status === 500) throw new Error(`weir failed: ${await response.text()}`);
  const answer = (await response.json()) as JsonObject;
  return response.ok ? { sent: answer as unknown as Explained } : { refused: answer.error as JsonObject };
}
