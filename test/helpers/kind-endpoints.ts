/** Every endpoint of the kinds of models besides conversations: who asks there, with what, and what its clients read of an error. */
import type { JsonObject } from "../../src/core/json.ts";

export interface KindEndpoint {
  /** For the names of tests. */
  name: string;
  path: string;
  /** What the endpoint does, as the scope `endpoints` of keys and the label `format` of metrics name it. */
  kind: string;
  format: string;
  /** The model of the mock that answers. */
  model: string;
  /** A request without the model. @param text stands in a place where a person writes */
  body(text: string): JsonObject;
  /** What its client finds in the body of an error: message and code. */
  errorIn(body: JsonObject): { message: unknown; code?: unknown };
}

const envelope = (body: JsonObject) => {
  const { message, code } = (body["error"] ?? {}) as JsonObject;
  return { message, code };
};
/** Clients of Cohere read `message`, and those of Voyage `detail`. */
const ranking = (body: JsonObject) => {
  const { detail, message } = body;
  // That of OpenAI may have words before it that its clients look for.
  const isEqual = detail === message && String(envelope(body).message).endsWith(String(message));
  return { message: isEqual ? message : undefined, code: envelope(body).code };
};

const documents = (text: string) => ["a blue dog", text];

export const KIND_ENDPOINTS: readonly KindEndpoint[] = [
  {
    ...{ name: "Cohere v2", path: "/v2/rerank", kind: "rerank", format: "rerank", model: "mock/rerank" },
    body: (text) => ({ query: "cats", documents: documents(text) }),
    errorIn: ranking,
  },
  {
    ...{ name: "Jina", path: "/v1/rerank", kind: "rerank", format: "rerank", model: "mock/rerank" },
    body: (text) => ({ query: text, documents: ["a", "b"] }),
    errorIn: ranking,
  },
  {
    ...{ name: "Cohere v1", path: "/v1/rerank", kind: "rerank", format: "rerank", model: "mock/rerank" },
    body: (text) => ({ query: "cats", documents: [{ title: text }], rank_fields: ["title"] }),
    errorIn: ranking,
  },
  {
    ...{ name: "Voyage", path: "/v1/rerank", kind: "rerank", format: "rerank", model: "mock/rerank" },
    body: (text) => ({ query: "cats", documents: documents(text), top_k: 1 }),
    errorIn: ranking,
  },
  {
    ...{ name: "TEI", path: "/rerank", kind: "rerank", format: "rerank", model: "mock/rerank" },
    body: (text) => ({ query: "cats", texts: documents(text) }),
    errorIn: ranking,
  },
  {
    ...{ name: "score", path: "/v1/score", kind: "rerank", format: "rerank", model: "mock/rerank" },
    body: (text) => ({ text_1: "cats", text_2: documents(text) }),
    errorIn: envelope,
  },
  {
    ...{ name: "moderations", path: "/v1/moderations", kind: "moderation", format: "moderation" },
    model: "mock/moderation",
    body: (text) => ({ input: ["nice", text] }),
    errorIn: envelope,
  },
  {
    ...{ name: "parts", path: "/v1/moderations", kind: "moderation", format: "moderation" },
    model: "mock/moderation",
    body: (text) => ({ input: [{ type: "text", text }] }),
    errorIn: envelope,
  },
  {
    ...{ name: "chat moderations", path: "/v1/chat/moderations", kind: "moderation", format: "moderation" },
    model: "mock/moderation",
    body: (text) => ({ input: [{ role: "user", content: text }] }),
    errorIn: envelope,
  },
  {
    ...{ name: "decisions", path: "/v1/decisions", kind: "decision", format: "decision" },
    model: "mock/decision",
    body: (text) => ({ input: text, questions: [{ type: "predicate", instructions: "Is it?" }] }),
    errorIn: envelope,
  },
  {
    ...{ name: "questions", path: "/v1/decisions", kind: "decision", format: "decision" },
    model: "mock/decision",
    body: (text) => ({ input: "a", questions: [{ type: "predicate", instructions: text }] }),
    errorIn: envelope,
  },
  {
    ...{ name: "completions", path: "/v1/completions", kind: "completion", format: "completions" },
    model: "mock/echo",
    body: (prompt) => ({ prompt, max_tokens: 9 }),
    errorIn: envelope,
  },
  {
    ...{ name: "FIM", path: "/v1/fim/completions", kind: "completion", format: "fim", model: "mock/echo" },
    body: (suffix) => ({ prompt: "def f(", suffix, max_tokens: 9 }),
    errorIn: envelope,
  },
  {
    ...{
      name: "images",
      path: "/v1/images/generations",
      kind: "image",
      format: "image",
      model: "mock/image",
    },
    body: (prompt) => ({ prompt }),
    errorIn: envelope,
  },
  {
    ...{ name: "speech", path: "/v1/audio/speech", kind: "speech", format: "speech", model: "mock/speech" },
    body: (input) => ({ input, voice: "alloy" }),
    errorIn: envelope,
  },
];
