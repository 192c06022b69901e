/** Tools: whether the host takes them, can be forced to call one, and calls several at once or only one. */
import type { ProbeAnswer } from "../answer.ts";
import type { Host } from "../host.ts";
import { countOf, judge, notAsked, quoted, type Seen } from "../judge.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { Finding, Probe } from "../types.ts";
import { TIME, user, WEATHER } from "./ask.ts";

const NO_TOOLS = "the host takes no tools";
const ABOUT = /tool|function/i;

const namesOf = ({ calls }: ProbeAnswer) => calls.map(({ name }) => name).join(", ");
const callsOf = (answer: ProbeAnswer) =>
  answer.calls.length === 0 ? "answered without a call" : `called ${namesOf(answer)}`;

export const tools: Probe = {
  finds: ["tools", "forced-tools", "named-tool"],
  asks: "a tool call; one that must be made (`tool_choice: required`); one of a named tool",
  calls: 3,
  async run(host) {
    const free = judge(
      await host.chat({ messages: user("What is the weather in Paris? Use the tool."), tools: [WEATHER] }),
      (answer) => [answer.calls.length > 0, callsOf(answer)],
      ABOUT,
    );
    if (free.verdict === "refused")
      return { tools: free, "forced-tools": notAsked(NO_TOOLS), "named-tool": notAsked(NO_TOOLS) };
    const ask = { messages: user("Say hello."), tools: [WEATHER, TIME] };
    const forced = judge(
      await host.chat({ ...ask, tool_choice: "required" }),
      (answer) => [answer.calls.length > 0, callsOf(answer)],
      ABOUT,
    );
    const named = judge(
      await host.chat({ ...ask, tool_choice: { type: "function", function: { name: "get_time" } } }),
      (answer) => [
        answer.calls.length > 0 && answer.calls.every(({ name }) => name === "get_time"),
        callsOf(answer),
      ],
      ABOUT,
    );
    if (forced.verdict === "yes") host.forcing = { tool_choice: "required" };
    const works = [free, forced, named].find(({ verdict }) => verdict === "yes");
    host.takesTools = works !== undefined;
    return { tools: works ?? free, "forced-tools": forced, "named-tool": named };
  },
};

export const parallel: Probe = {
  finds: ["parallel-tools", "one-tool"],
  asks: "two calls in one answer; only one with `parallel_tool_calls: false`",
  calls: 2,
  async run(host) {
    if (!host.takesTools) return { "parallel-tools": notAsked(NO_TOOLS), "one-tool": notAsked(NO_TOOLS) };
    const ask = {
      messages: user(
        "What is the weather in Paris, and what in Rome? Call the tool once for each city, both now.",
      ),
      tools: [WEATHER],
    };
    const several = judge(
      await host.chat(ask),
      ({ calls }): Seen => [calls.length === 0 ? undefined : calls.length > 1, countOf(calls.length, "call")],
      ABOUT,
    );
    const one = judge(
      await host.chat({ ...ask, parallel_tool_calls: false }),
      ({ calls }): Seen => {
        const evidence = `${countOf(calls.length, "call")} with parallel_tool_calls: false`;
        // A host that never makes two calls need not have read the field.
        if (calls.length === 1 && several.verdict !== "yes") return [undefined, evidence];
        return [calls.length === 0 ? undefined : calls.length === 1, evidence];
      },
      /parallel/i,
    );
    return { "parallel-tools": several, "one-tool": one };
  },
};

/** A value that the prompt asks for and the schema does not allow. */
const FORBIDDEN = "purple";
/** Without it many models keep to a schema that nothing enforces. */
export const UNCHECKED = "This is a test whether the schema is enforced, so do not keep to it yourself.";
export const COLOURS: JsonObject = {
  type: "object",
  properties: { colour: { type: "string", enum: ["red", "green"] } },
  required: ["colour"],
  additionalProperties: false,
};

/** Whether a JSON text fits {@link COLOURS}. */
export function fitsColours(text: string): boolean {
  const value = parseJson(text);
  if (!isObject(value) || Object.keys(value).length !== 1) return false;
  return value["colour"] === "red" || value["colour"] === "green";
}

export const strictTools: Probe = {
  finds: ["strict-tools"],
  asks: "a call of a tool with `strict: true`, whose schema does not allow what the prompt asks for",
  calls: 1,
  async run(host) {
    if (!host.takesTools) return { "strict-tools": notAsked(NO_TOOLS) };
    const paint = {
      type: "function",
      function: { name: "paint", description: "Paints a wall.", parameters: COLOURS, strict: true },
    };
    const reply = await host.chat({
      messages: user(
        `${UNCHECKED} Call the tool paint with exactly these arguments: {"colour":"${FORBIDDEN}"}`,
      ),
      tools: [paint],
      ...host.forcing,
    });
    return { "strict-tools": judge(reply, (answer) => strictSeen(answer, host), /strict|schema/i) };
  },
};

function strictSeen({ calls: [call] }: ProbeAnswer, host: Host): Seen {
  if (!call) return [undefined, "answered without a call"];
  return [fitsColours(call.input), `arguments ${host.quote(call.input)}`];
}

/** Ids as most hosts make them, and as Mistral wants them. */
const USUAL_ID = "call_0123456789abcdefghijkl";
const SHORT_ID = "a1B2c3D4e";

export const history: Probe = {
  finds: ["tool-history", "tool-ids", "reasoning-replay"],
  asks: "the answer to a conversation with a tool call: with a usual id, with an id of nine letters if that is refused, and with the reasoning of the turn if the model reasons",
  calls: 3,
  async run(host) {
    const unasked = notAsked(NO_TOOLS);
    if (!host.takesTools)
      return { "tool-history": unasked, "tool-ids": unasked, "reasoning-replay": unasked };
    const usual = await continued(host, USUAL_ID);
    const isRefusedId = usual.verdict === "refused" && /\bid\b|_id/i.test(usual.evidence);
    const short = isRefusedId ? await continued(host, SHORT_ID) : undefined;
    const takesShort = short?.verdict === "yes";
    const plain = short ?? usual;
    const again =
      host.reasoning === undefined || host.reasoning === "<think>"
        ? undefined
        : await continued(host, takesShort ? SHORT_ID : USUAL_ID, THOUGHT);
    const whole = plain.verdict !== "yes" && again?.verdict === "yes" ? again : plain;
    return {
      "tool-history": whole,
      "tool-ids": takesShort ? { ...usual, value: "mistral" } : isRefusedId ? usual : whole,
      "reasoning-replay": again
        ? replay(again, plain)
        : notAsked("no answer had reasoning in a member of its own"),
    };
  },
};

const THOUGHT = { reasoning_content: "The user wants the weather." };

/** Whether the reasoning of earlier turns may or must come back. @param plain the same conversation without it */
function replay(again: Finding, plain: Finding): Finding {
  const became = ({ verdict, evidence }: Finding) => (verdict === "yes" ? "answered" : evidence);
  const evidence = `with reasoning_content: ${became(again)}; without it: ${became(plain)}`;
  const found = (value: string): Finding => ({ verdict: "yes", evidence, value });
  if (again.verdict === "yes" && plain.verdict === "yes") return found("optional");
  if (again.verdict === "yes" && plain.verdict === "refused") return found("required");
  if (again.verdict === "refused" && plain.verdict === "yes")
    return { ...found("forbidden"), verdict: "refused" };
  return { verdict: "unclear", evidence };
}

async function continued(host: Host, id: string, more: JsonObject = {}): Promise<Finding> {
  const called = { name: "get_weather", arguments: '{"city":"Paris"}' };
  const reply = await host.chat({
    messages: [
      ...user("What is the weather in Paris? Use the tool, then answer in one sentence."),
      { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: called }], ...more },
      { role: "tool", tool_call_id: id, content: '{"weather":"snow"}' },
    ],
    tools: [WEATHER],
  });
  return judge(reply, ({ text }) => [true, `answered ${quoted(text, (part) => host.quote(part))}`], ABOUT);
}
