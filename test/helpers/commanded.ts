/**
 * Commands to a feature of a test: the client sends JSON as the text of a message, and reads JSON in the message of the error. Tests
 * copy this file to a copy of the source.
 */
import { GatewayError } from "../../src/core/error.ts";
import type { Entry } from "../../src/gateway/seams.ts";

/** What the client has sent. */
export function commandIn<Command>(entry: Entry): Command {
  const { messages } = entry.body as { messages: { content: string }[] };
  return JSON.parse(messages[0]!.content) as Command;
}

/** The answer to the client. */
export function reportError(report: object): GatewayError {
  return new GatewayError("invalid-request", JSON.stringify(report));
}

/** Sends a command over a connection of its own: the system gives it to one of the workers. @throws Error with an answer that is no report */
export async function command<Report>(url: string, given: object): Promise<Report> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: JSON.stringify(given) }] }),
    headers: { "content-type": "application/json", connection: "close" },
    keepalive: false,
  });
  const text = await answer.text();
  try {
    const { error } = JSON.parse(text) as { error: { message: string } };
    return JSON.parse(error.message) as Report;
  } catch {
    throw new Error(`the feature did not report: ${text}`);
  }
}
