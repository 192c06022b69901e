/** Options that shape the answer: JSON schema, JSON mode, stop sequences, several choices, log probabilities. */
import { isObject, parseJson } from "../../../core/json.ts";
import type { Host } from "../host.ts";
import { countOf, judge, quoted, type Seen } from "../judge.ts";
import type { Finding, Probe } from "../types.ts";
import { user } from "./ask.ts";
import { COLOURS, fitsColours, UNCHECKED } from "./tools.ts";

export const jsonSchema: Probe = {
  finds: ["json-schema"],
  asks: "an answer in a strict JSON schema that does not allow what the prompt asks for",
  calls: 1,
  async run(host) {
    const reply = await host.chat({
      messages: user(`${UNCHECKED} Answer with exactly this text and nothing else: {"colour":"purple"}`),
      response_format: { type: "json_schema", json_schema: { name: "paint", strict: true, schema: COLOURS } },
    });
    const seen = judge(
      reply,
      ({ text, finish }): Seen => [
        fitsColours(text) || (finish === "length" ? undefined : false),
        `answered ${quoted(text, (part) => host.quote(part))}`,
      ],
      /schema|response_format|grammar/i,
    );
    return { "json-schema": seen };
  },
};

export const jsonMode: Probe = {
  finds: ["json-mode"],
  asks: "an answer with `response_format: json_object` to a prompt that asks for one word",
  calls: 1,
  async run(host) {
    const reply = await host.chat({
      messages: user(
        "Name one colour. Answer with the word alone, unless the format of the answer must be JSON.",
      ),
      response_format: { type: "json_object" },
    });
    const seen = judge(
      reply,
      ({ text, finish }): Seen => [
        isObject(parseJson(text)) || (finish === "length" ? undefined : false),
        `answered ${quoted(text, (part) => host.quote(part))}`,
      ],
      /json|response_format/i,
    );
    return { "json-mode": seen };
  },
};

/** Numbers of stop sequences that hosts are known to limit requests to, largest first. */
const COUNTS = [16, 4, 1] as const;

export const stop: Probe = {
  finds: ["stop"],
  asks: "a list that ends at the last of 16 stop sequences; of 4 and of 1 if that fails",
  calls: 3,
  async run(host) {
    let least: Finding | undefined;
    for (const count of COUNTS) {
      const found = await stopsAt(host, count);
      if (found.verdict === "yes") return { stop: { ...found, value: count } };
      least = found;
      if (found.verdict === "unclear") return { stop: found };
    }
    return { stop: { ...least!, value: 0 } };
  },
};

/** The last sequence is the one that the text reaches: a host that takes fewer does not stop there. */
async function stopsAt(host: Host, count: number): Promise<Finding> {
  const others = Array.from({ length: count - 1 }, (_, at) => `#${at}#`);
  const reply = await host.chat({
    messages: user("Write exactly this and nothing else: red green blue white"),
    stop: [...others, "blue"],
  });
  return judge(reply, ({ text, finish }): Seen => {
    const evidence = `${countOf(count, "sequence")}: ${quoted(text, (part) => host.quote(part))}`;
    // A text that does not begin as the prompt says decides nothing.
    if (!/^\W*red\W+green\b/i.test(text) || finish === "length") return [undefined, evidence];
    return [!/white/i.test(text), evidence];
  });
}

export const choices: Probe = {
  finds: ["n"],
  asks: "two choices (`n: 2`)",
  calls: 1,
  async run(host) {
    const reply = await host.chat({ messages: user("Reply with one word."), n: 2 });
    return { n: judge(reply, (answer) => [answer.choices === 2, countOf(answer.choices, "choice")]) };
  },
};

export const logprobs: Probe = {
  finds: ["logprobs"],
  asks: "log probabilities (`logprobs: true, top_logprobs: 2`)",
  calls: 1,
  async run(host) {
    const reply = await host.chat({
      messages: user("Reply with one word."),
      logprobs: true,
      top_logprobs: 2,
    });
    const seen = judge(reply, (answer) => [answer.logprobs, `${answer.logprobs ? "has" : "no"} logprobs`]);
    return { logprobs: seen };
  },
};
