/** Which other paths the host has. None of these calls decides how weir asks the host for answers. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { countOf } from "../judge.ts";
import type { Host, Reply } from "../host.ts";
import { streamFault } from "../streams.ts";
import type { Finding, Probe } from "../types.ts";

/** The model list. weir asks for it before everything else, because it may have to choose the model. */
export const models: Probe = {
  finds: ["models"],
  asks: "the model list (`GET /models`)",
  calls: 1,
  answers: 0,
  async run(host) {
    const reply = await host.send("GET", "/models");
    if (reply.kind === "failed" && reply.status === undefined) host.silence = reply.words;
    const names = reply.kind === "other" ? namesIn(reply.body) : [];
    if (names.length === 0) return { models: judgePath(reply, () => false, "no model list") };
    return { models: { verdict: "yes", evidence: `lists ${countOf(names.length, "model")}`, value: names } };
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

/** Only models that are named so are asked: a model for conversations would refuse, which says nothing of the host. */
export const kinds: Probe = {
  finds: ["rerank", "moderation"],
  asks: "a ranking at `/rerank` and a moderation at `/moderations`, if it lists a model for them",
  calls: 2,
  answers: 0,
  async run(host) {
    const ask = async (names: RegExp, path: string, body: JsonObject, member: string): Promise<Finding> => {
      const model = host.listed.find((name) => names.test(name));
      if (model === undefined) return { verdict: "unclear", evidence: "it lists no model for it" };
      const reply = await host.send("POST", path, { model, ...body });
      const isResult = (answer: JsonObject) =>
        Array.isArray(answer["results"]) && isObject(answer["results"][0]) && member in answer["results"][0];
      return { ...judgePath(reply, isResult, `answers with ${host.quote(model)}`), value: model };
    };
    const ranked = { query: "word", documents: ["word", "number"] };
    return {
      rerank: await ask(/rerank/i, "/rerank", ranked, "relevance_score"),
      moderation: await ask(/moderation/i, "/moderations", { input: "word" }, "categories"),
    };
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
  asks: "an answer at `/responses` and at `/messages`, and a stream at each that answers",
  calls: 4,
  async run(host) {
    const { model } = host;
    const responses = { model, input: "Say hi.", max_output_tokens: LIMIT };
    const messages = { model, max_tokens: LIMIT, messages: [{ role: "user", content: "Say hi." }] };
    return {
      responses: await judgeFormat(host, "/responses", responses, ({ output }) => Array.isArray(output)),
      messages: await judgeFormat(host, "/messages", messages, ({ type }) => type === "message"),
    };
  },
};

const LIMIT = 64;
/** Anthropic's API requires the header; https://docs.anthropic.com/en/api/versioning */
const VERSION = { "anthropic-version": "2023-06-01" };

/** Clients of a format stream: its JSON alone does not make it one that weir can pass on. */
async function judgeFormat(
  host: Host,
  path: "/responses" | "/messages",
  body: JsonObject,
  holds: (answer: JsonObject) => boolean,
): Promise<Finding> {
  const options = path === "/messages" ? { headers: VERSION } : {};
  const json = judgePath(await host.send("POST", path, body, options), holds, "answers");
  if (json.verdict !== "yes") return json;
  const reply = await host.send("POST", path, { ...body, stream: true }, options);
  if (reply.kind === "failed") return { verdict: "unclear", evidence: `answers; its stream: ${reply.words}` };
  if (reply.kind === "refused") return { verdict: "ignored", evidence: `answers; no stream: ${reply.words}` };
  const fault = reply.kind === "other" ? streamFault(path, reply.text) : "it is one of chat-completions";
  return fault === undefined
    ? { verdict: "yes", evidence: "answers, and streams" }
    : { verdict: "ignored", evidence: `answers, but its stream is not right: ${host.quote(fault)}` };
}

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
