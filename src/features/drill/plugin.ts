/** The plugin of the drill's gateway: it answers each request with the whole answer or the fault of its run. */
import type { CallView } from "../../core/call-view.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import type { Interception, Plugin } from "../../core/plugin.ts";
import { FAULTY_ANSWERS, wholeAnswer } from "./events.ts";
import type { Fault } from "./faults.ts";
import type { AskedQuestion, Try, Witness } from "./witness.ts";

/** The header in which a front tells the plugin which {@link Exchange} a request belongs to. */
export const EXCHANGE_HEADER = "x-weir-drill";

/** A request on its way through the gateway. */
export interface Exchange {
  /** Absent in the baseline. */
  fault?: Fault;
  witness: Witness;
  /** Set by the plugin if the request asks for an answer; model lists, token counts and telemetry do not. */
  made?: Try;
  /** Set by the plugin: the answer fails in its middle. The gateway then keeps its connection open for seconds. */
  breaks?: boolean;
}

/** The requests that are in the gateway, by the value of {@link EXCHANGE_HEADER}. */
export type Exchanges = Map<string, Exchange>;

/** The model for answers that have to match a schema of the client. */
const STRUCTURED_MODEL = "mock/chat";

/** Makes the plugin. @param exchanges filled by the fronts */
export function drillPlugin(exchanges: Exchanges): Plugin {
  return {
    name: "drill",
    hooks: {
      intercept(call) {
        const exchange = exchanges.get(call.headers.get(EXCHANGE_HEADER) ?? "");
        return exchange && answer(exchange, call);
      },
    },
  };
}

function answer(exchange: Exchange, call: CallView): Interception {
  const { fault, witness } = exchange;
  const { id, model, request } = call;
  const made = (exchange.made = witness.arrived(askedIn(request)));
  const script = made.faulty ? fault?.script : undefined;
  if (script?.kind === "error") throw new GatewayError(script.error, script.message, script.facts);
  const facts = { id, model, request };
  exchange.breaks = script?.kind === "answer" && script.answer === "overloaded";
  if (script?.kind === "answer") return { answer: FAULTY_ANSWERS[script.answer](facts) };
  const isStructured = request?.answerFormat !== undefined && request.answerFormat.type !== "text";
  return isStructured ? { model: STRUCTURED_MODEL } : { answer: wholeAnswer(facts) };
}

/** Length of the last turn that identifies a question, in UTF-16 units. */
const MAX_QUESTION = 4_000;

/**
 * A repeated request may differ in its options (`stream`, token limit), and some clients add the half answer that they got. So
 * the number of user turns and the last of them count; results of tools are user turns too.
 */
function askedIn(request: ChatRequest | undefined): AskedQuestion {
  const tools = (request?.tools.length ?? 0) > 0;
  const turns = request?.turns.filter(({ role }) => role === "user") ?? [];
  const last = JSON.stringify(turns.at(-1)?.blocks ?? []).slice(0, MAX_QUESTION);
  return { question: Bun.hash(JSON.stringify([tools, turns.length, last])).toString(16), tools };
}
