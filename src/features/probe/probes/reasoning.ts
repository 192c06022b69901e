/** Reasoning: the member or tag that it comes in, and whether the host takes an effort. */
import { judge, type Seen } from "../judge.ts";
import type { Finding, Probe } from "../types.ts";
import { user } from "./ask.ts";

export const reasoning: Probe = {
  finds: ["reasoning", "reasoning-effort"],
  asks: "a question with `reasoning_effort: low`",
  calls: 1,
  async run(host) {
    const reply = await host.chat({
      messages: user(
        "A bat and a ball cost 11 together, the bat costs 10 more than the ball. What is the ball's price?",
      ),
      reasoning_effort: "low",
    });
    const effort = judge(
      reply,
      (): Seen =>
        host.reasoning === undefined
          ? [undefined, "accepted, and no answer shows reasoning"]
          : [true, "accepted by a model that reasons"],
      /reasoning|effort/i,
    );
    return { reasoning: seenReasoning(host.reasoning), "reasoning-effort": effort };
  },
};

function seenReasoning(member: string | undefined): Finding {
  if (member === undefined) return { verdict: "ignored", evidence: "no answer shows reasoning" };
  return { verdict: "yes", evidence: `answers have reasoning in ${member}`, value: member };
}
