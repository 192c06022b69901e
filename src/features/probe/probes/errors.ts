/** How the host words errors: a faulty request, a wrong key, a request that is too long. */
import { isObject, type Json } from "../../../core/json.ts";
import type { Reply } from "../host.ts";
import { notAsked } from "../judge.ts";
import type { Finding, Probe } from "../types.ts";
import { user } from "./ask.ts";

export const errorShape: Probe = {
  finds: ["error-shape", "wrong-key"],
  asks: "a faulty request, and a request with a wrong key",
  calls: 2,
  answers: 0,
  async run(host) {
    const { model, place } = host;
    const faulty = await host.send("POST", host.chatUrl, { model, messages: "none" });
    const [name] = Object.keys(place.credentials);
    if (name === undefined || place.authorizer)
      return { "error-shape": shapeOf(faulty), "wrong-key": notAsked("no key was used") };
    const value = place.credentials[name]!.startsWith("Bearer ") ? `Bearer ${WRONG}` : WRONG;
    const body = { model, messages: user("Say hi."), [host.limitField]: 1 };
    const wrong = await host.send("POST", host.chatUrl, body, { headers: { [name]: value } });
    return { "error-shape": shapeOf(faulty), "wrong-key": wrongKey(wrong) };
  },
};

const WRONG = "weir-probe-wrong-key";

function wrongKey(reply: Reply): Finding {
  if (reply.kind === "answer" || reply.kind === "other")
    return { verdict: "ignored", evidence: "answered with a wrong key" };
  if (reply.status === undefined) return { verdict: "unclear", evidence: reply.words };
  const isUsual = reply.status === 401 || reply.status === 403;
  return { verdict: isUsual ? "yes" : "ignored", evidence: reply.words, value: reply.status };
}

/** The names of the shapes of errors. */
function shapeOf(reply: Reply): Finding {
  if (reply.kind === "answer" || reply.kind === "other")
    return { verdict: "ignored", evidence: "a request without a list of messages got no error" };
  if (reply.status === undefined) return { verdict: "unclear", evidence: reply.words };
  const isOpenAi = isEnvelope(reply.body);
  return {
    verdict: isOpenAi ? "yes" : "ignored",
    evidence: isOpenAi ? `${reply.words}` : `another shape than error.message: ${reply.words}`,
    value: reply.status,
  };
}

function isEnvelope(body: Json | undefined): boolean {
  return isObject(body) && isObject(body["error"]) && typeof body["error"]["message"] === "string";
}

/** More output than any model has. */
const TOO_MANY = 1_000_000_000;
/** The connection is closed after this many bytes of a stream: about 64 tokens in events of 250 bytes. */
const MOST_BYTES = 16_000;

export const tooLong: Probe = {
  finds: ["too-long"],
  asks: "an answer with an output limit that no model has (a stream, closed after 16 kB)",
  calls: 1,
  async run(host) {
    if (!host.streams) return { "too-long": notAsked("the host does not stream") };
    const body = { model: host.model, stream: true, [host.limitField]: TOO_MANY, messages: user("Say hi.") };
    const reply = await host.send("POST", host.chatUrl, body, { mostBytes: MOST_BYTES });
    if (reply.kind !== "refused") {
      const evidence =
        reply.kind === "failed" ? reply.words : "an output limit of 1,000,000,000 tokens got no error";
      return { "too-long": { verdict: "unclear", evidence } };
    }
    return { "too-long": { verdict: "yes", evidence: reply.words, value: reply.status } };
  },
};
