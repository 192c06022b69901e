/** The form of agentgateway's guardrail webhooks: `/request` and `/response`, with one of three actions. */
import { isObject } from "../../../../core/json.ts";
import { AskError } from "../asker.ts";
import { WEBHOOK } from "../webhook.ts";
import { type Form, rewritten } from "./form.ts";
import { choicesOf, contentsOf, messagesOf } from "./portkey.ts";

export const agentgateway: Form = {
  path: ({ phase }) => (phase === "output" ? "/response" : "/request"),

  request: (batch) => ({
    body: batch.phase === "output" ? { choices: choicesOf(batch) } : { messages: messagesOf(batch) },
  }),

  answer(value, batch) {
    const action = isObject(value) ? value["action"] : undefined;
    if (!isObject(action)) throw new AskError(`the answer of ${WEBHOOK} has no action`);
    const { body } = action;
    if (typeof body === "string" || action["status_code"] !== undefined)
      return { verdict: "block", findings: [] };
    if (isObject(body)) return { verdict: "pass", findings: rewritten(batch, contentsOf(body)) };
    if (body === undefined || body === null) return { verdict: "pass", findings: [] };
    throw new AskError(`the answer of ${WEBHOOK} has an action that weir does not know`);
  },
};
