/** An alert, and how it is written for its receiver. */
import type { AlertEvent, AlertTarget } from "./section.ts";

export interface Alert {
  /** The same in each repetition of the request. */
  id: string;
  event: AlertEvent | "test";
  /** `reached`: it happened once; the others: something began or ended. */
  state: "reached" | "begins" | "ends";
  /** Milliseconds since 1970. */
  at: number;
  /** Its subject: the name of a budget or of a deployment; `gateway` or `store`. */
  subject: string;
  /** One sentence for people. */
  message: string;
  /** For programs. */
  facts: Readonly<Record<string, string | number | null>>;
}

export interface Sender {
  /** Name of the machine. */
  host: string;
  version: string;
}

/** @returns the body of the request, JSON */
export function alertBody(alert: Alert, format: AlertTarget["format"], { host, version }: Sender): string {
  if (format === "slack") return JSON.stringify({ text: `weir on ${host}: ${escapeSlack(alert.message)}` });
  const { id, event, state, at, subject, message, facts } = alert;
  const gateway = { host, version };
  return JSON.stringify({
    id,
    event,
    state,
    at: new Date(at).toISOString(),
    subject,
    message,
    facts,
    gateway,
  });
}

/** https://docs.slack.dev/messaging/formatting-message-text/#escaping */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
