/** The answer to one request over streamable HTTP: a JSON body, or the last message of a stream. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";

/** @returns undefined for a body that is no message */
export async function lastMessage(response: Response): Promise<JsonObject | undefined> {
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const messages = (isStream ? dataOf(text) : [text]).map(parseJson).filter(isObject);
  return messages.findLast((one) => "result" in one || "error" in one);
}

/** The data of each event. */
function dataOf(text: string): string[] {
  return text.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length).trimStart())
      .join("\n"),
  );
}
