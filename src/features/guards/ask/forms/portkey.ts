/** The form of Portkey's webhook guardrails: texts as messages of chat-completions, a verdict that is true or false. */
import { isObject, type JsonObject } from "../../../../core/json.ts";
import { AskError, type Batch } from "../asker.ts";
import { WEBHOOK } from "../webhook.ts";
import { type Form, rewritten } from "./form.ts";

export const portkey: Form = {
  path: () => "",

  request(batch) {
    const { phase, call, texts } = batch;
    const isAnswer = phase === "output";
    const text = texts.map((one) => one.text).join("\n");
    const { model, stream } = call;
    return {
      eventType: isAnswer ? "afterRequestHook" : "beforeRequestHook",
      requestType: call.format === "embeddings" ? "embed" : "chatComplete",
      provider: model.split("/")[0],
      request: {
        json: { model, stream, messages: isAnswer ? [] : messagesOf(batch) },
        ...{ text: isAnswer ? "" : text, isStreamingRequest: stream, isTransformed: false },
      },
      response: isAnswer
        ? { json: { choices: choicesOf(batch) }, text, statusCode: 200, isTransformed: false }
        : { json: {}, text: "", statusCode: null, isTransformed: false },
      metadata: { path: call.path, ...(call.key !== undefined && { key: call.key }) },
    };
  },

  answer(value, batch) {
    if (!isObject(value) || typeof value["verdict"] !== "boolean")
      throw new AskError(`the answer of ${WEBHOOK} has no verdict of true or false`);
    if (!value["verdict"]) return { verdict: "block", findings: [] };
    const { transformedData: data } = value;
    const of = isObject(data) ? data[batch.phase === "output" ? "response" : "request"] : undefined;
    const changed = isObject(of) ? of["json"] : undefined;
    if (!isObject(changed)) return { verdict: "pass", findings: [] };
    return { verdict: "pass", findings: rewritten(batch, contentsOf(changed)) };
  },
};

export const messagesOf = ({ texts }: Batch) =>
  texts.map(({ role = "user", text }) => ({ role, content: text }));

export const choicesOf = ({ texts }: Batch) =>
  texts.map(({ text }, index) => ({ index, message: { role: "assistant", content: text } }));

/** The texts of `messages` or `choices` in order. */
export function contentsOf({ messages, choices }: JsonObject): unknown[] {
  if (Array.isArray(choices))
    return choices.map((one) =>
      isObject(one) && isObject(one["message"]) ? one["message"]["content"] : one,
    );
  if (Array.isArray(messages)) return messages.map((one) => (isObject(one) ? one["content"] : one));
  throw new AskError(`the answer of ${WEBHOOK} has neither messages nor choices`);
}
