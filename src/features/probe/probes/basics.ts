/** Whether the host answers, counts, streams, and under which name it takes the output limit. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { outputTokens } from "../answer.ts";
import type { Host, LimitField, Reply } from "../host.ts";
import { judge, judgeFailure, notAsked, quoted, type Seen } from "../judge.ts";
import type { Finding, Findings, Probe } from "../types.ts";
import { user } from "./ask.ts";

/** The first call: the host is not asked further if it fails. */
export const answers: Probe = {
  finds: ["answers", "json-usage", "limit-headers"],
  asks: "a JSON answer, its token counts, and headers with rate limits",
  calls: 2,
  async run(host) {
    const ask = { messages: user("Reply with the one word: ready") };
    let reply = await host.chat(ask);
    if (reply.kind === "refused" && /max_(completion_)?tokens/.test(reply.words)) {
      host.limitField = "max_completion_tokens";
      reply = await host.chat(ask);
    }
    const answer = judge(reply, ({ text }) => [
      true,
      text === "" ? "answered" : `answered ${host.quote(text)}`,
    ]);
    if (reply.kind !== "answer") return { answers: answer };
    const counts = reply.answer.usage;
    return {
      answers: answer,
      "json-usage": hasCounts(counts)
        ? { verdict: "yes", evidence: `${counts["prompt_tokens"]} in, ${counts["completion_tokens"]} out` }
        : { verdict: "ignored", evidence: "the answer has no usage" },
      "limit-headers": limitHeaders(reply),
    };
  },
};

function hasCounts(usage: JsonObject | undefined): usage is JsonObject {
  return usage !== undefined && Number(usage["prompt_tokens"]) > 0 && Number(usage["completion_tokens"]) > 0;
}

function limitHeaders({ headers }: Extract<Reply, { kind: "answer" }>): Finding {
  const names: string[] = [];
  headers.forEach((_value, name) => {
    if (/ratelimit/i.test(name)) names.push(name.toLowerCase());
  });
  return names.length > 0
    ? { verdict: "yes", evidence: names.sort().join(", "), value: names }
    : { verdict: "ignored", evidence: "no header with ratelimit in its name" };
}

/** Some hosts refuse less than 16 tokens. */
const FEW = 16;
/** More tokens than a host may send that keeps to the limit: hosts count a few differently. */
const MANY = 40;

export const limits: Probe = {
  finds: ["max-tokens", "max-completion-tokens"],
  asks: "a long text with `max_tokens: 16`, and with `max_completion_tokens: 16`",
  calls: 2,
  async run(host) {
    const asked = {
      "max-tokens": await limitOf(host, "max_tokens"),
      "max-completion-tokens": await limitOf(host, "max_completion_tokens"),
    };
    if (asked["max-tokens"].verdict !== "yes" && asked["max-completion-tokens"].verdict === "yes")
      host.limitField = "max_completion_tokens";
    return asked;
  },
};

async function limitOf(host: Host, field: LimitField): Promise<Finding> {
  const reply = await host.chat({
    [host.limitField]: null,
    [field]: FEW,
    messages: user("Write the numbers from 1 to 60 as words, in one line."),
  });
  return judge(reply, (answer): Seen => {
    const count = outputTokens(answer) ?? Math.ceil(answer.text.length / 4);
    if (answer.finish === "length") return [true, `stopped after ${count} tokens, finish reason length`];
    if (count > MANY) return [false, `went on to ${count} tokens`];
    return [count <= FEW || undefined, `ended after ${count} tokens, finish reason ${answer.finish}`];
  });
}

export const streaming: Probe = {
  finds: ["streaming", "stream-usage", "stream-end"],
  asks: "a stream with `stream_options.include_usage`; without it if that is refused",
  calls: 2,
  async run(host) {
    const ask = { stream: true, messages: user("Write the numbers from 1 to 9, separated by blanks.") };
    const first = await host.chat({ ...ask, stream_options: { include_usage: true } });
    if (first.kind === "answer") return streamFindings(first);
    if (first.kind === "failed") {
      const why = judgeFailure(first);
      return { streaming: why, "stream-usage": why, "stream-end": why };
    }
    const plain = await host.chat(ask);
    const usage = judgeFailure(first);
    if (plain.kind === "answer") return { ...streamFindings(plain), "stream-usage": usage };
    const refused = judgeFailure(plain, /stream/i);
    const unasked = notAsked("the host does not stream");
    return { streaming: refused, "stream-usage": unasked, "stream-end": unasked };
  },
};

function streamFindings({ answer, stream }: Extract<Reply, { kind: "answer" }>): Findings {
  if (!stream) {
    const unasked = notAsked("the host does not stream");
    return {
      streaming: { verdict: "ignored", evidence: "answered with JSON" },
      "stream-usage": unasked,
      "stream-end": unasked,
    };
  }
  const ends = [answer.finish && `finish reason ${answer.finish}`, stream.done && "[DONE]"].filter(Boolean);
  return {
    streaming: { verdict: "yes", evidence: `${stream.chunks} chunks` },
    "stream-usage": isObject(answer.usage)
      ? { verdict: "yes", evidence: "a chunk has usage" }
      : { verdict: "ignored", evidence: "no chunk has usage" },
    "stream-end": {
      verdict: ends.length === 2 ? "yes" : "ignored",
      evidence: ends.length === 0 ? "the stream just ends" : `ends with ${ends.join(" and ")}`,
      value: [answer.finish !== undefined, stream.done],
    },
  };
}
