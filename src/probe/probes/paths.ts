/** Which other paths the host has. None of these calls decides how weir asks the host for answers. */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Reply } from "../host.ts";
import type { Finding, Probe } from "../types.ts";

/** The model list. weir asks for it before everything else, because it may have to choose the model. */
export const models: Probe = {
  finds: ["models"],
  asks: "the model list (`GET /models`)",
  calls: 1,
  answers: 0,
  async run(host) {
    const reply = await host.send("GET", "/models");
    const names = reply.kind === "other" ? namesIn(reply.body) : [];
    if (names.length === 0) return { models: judgePath(reply, () => false, "no model list") };
    return { models: { verdict: "yes", evidence: `lists ${names.length} models`, value: names } };
  },
};

function namesIn(body: Json | undefined): string[] {
  const list = isObject(body) ? (body["data"] ?? body["models"]) : body;
  if (!Array.isArray(list)) return [];
  return list.flatMap((model) => {
    const name = isObject(model) ? (model["id"] ?? model["name"]) : model;
    return typeof name === "string" && name !== "" ? [name] : [];
  });
}

export const embeddings: Probe = {
  finds: ["embeddings"],
  asks: "an embedding of one word",
  calls: 1,
  answers: 0,
  async run(host) {
    const model = host.listed.find((name) => /embed/i.test(name)) ?? host.model;
    const reply = await host.send("POST", "/embeddings", { model, input: "word" });
    const found = judgePath(
      reply,
      ({ data }) => Array.isArray(data) && isObject(data[0]) && data[0]["embedding"] !== undefined,
      `embeds with ${host.quote(model)}`,
    );
    // A host that refuses the model may embed with another one.
    const isModel = found.verdict === "refused" && !isMissingPath(reply);
    return { embeddings: isModel ? { ...found, verdict: "unclear" } : found };
  },
};

export const counting: Probe = {
  finds: ["count-tokens", "tokenize"],
  asks: "token counts at `/messages/count_tokens` and `/tokenize`",
  calls: 2,
  answers: 0,
  async run(host) {
    const messages = [{ role: "user", content: "word" }];
    const body = { model: host.model, messages };
    const counted = await host.send("POST", "/messages/count_tokens", body, { headers: VERSION });
    const { origin, pathname } = new URL(host.place.baseUrl);
    const root = origin + pathname.replace(/\/v\d+$/, "").replace(/\/$/, "");
    const tokens = await host.send("POST", `${root}/tokenize`, { ...body, prompt: "word", content: "word" });
    return {
      "count-tokens": judgePath(counted, ({ input_tokens }) => Number(input_tokens) > 0, "counts tokens"),
      tokenize: judgePath(
        tokens,
        ({ count, tokens: list }) => Number(count) > 0 || Array.isArray(list),
        "has /tokenize",
      ),
    };
  },
};

export const otherPaths: Probe = {
  finds: ["responses", "messages"],
  asks: "an answer at `/responses` and at `/messages`",
  calls: 2,
  async run(host) {
    const { model } = host;
    const responses = await host.send("POST", "/responses", {
      model,
      input: "Say hi.",
      max_output_tokens: LIMIT,
    });
    const messages = await host.send(
      "POST",
      "/messages",
      { model, max_tokens: LIMIT, messages: [{ role: "user", content: "Say hi." }] },
      { headers: VERSION },
    );
    return {
      responses: judgePath(responses, ({ output }) => Array.isArray(output), "answers"),
      messages: judgePath(messages, ({ type }) => type === "message", "answers"),
    };
  },
};

const LIMIT = 64;
/** Anthropic's API requires the header; https://docs.anthropic.com/en/api/versioning */
const VERSION = { "anthropic-version": "2023-06-01" };

/** @param holds whether the body is an answer of this path @param works evidence if it is */
function judgePath(reply: Reply, holds: (body: JsonObject) => boolean, works: string): Finding {
  switch (reply.kind) {
    case "answer":
      return { verdict: "ignored", evidence: "answered with chat-completions" };
    case "other":
      return isObject(reply.body) && holds(reply.body)
        ? { verdict: "yes", evidence: works }
        : { verdict: "unclear", evidence: `status ${reply.status}, and a body of another kind` };
    case "refused":
      return { verdict: "refused", evidence: reply.words };
    case "failed":
      return { verdict: "unclear", evidence: reply.words };
  }
}

function isMissingPath(reply: Reply): boolean {
  if (reply.kind !== "refused") return false;
  return (
    reply.status === 405 || reply.status === 501 || (reply.status === 404 && !/model/i.test(reply.words))
  );
}
