/** Tools of the reference server that need the client before they can answer, once or several times. */
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import { ask, form, prompt, type ReferenceTool, sampledIn, say, tool } from "./reference-kit.ts";

type State = Record<string, string>;

/** Signs what a round leaves for the next one, so that a changed state is refused. */
export const STATE = createRequestStateCodec<State>({ key: "k".repeat(32) });

const NAME = form("What is your name?", { name: { type: "string" } }, ["name"]);
const CONFIRM = form("Please confirm", { ok: { type: "boolean" } }, ["ok"]);

export const ROUNDS: readonly ReferenceTool[] = [
  tool("test_input_required_result_elicitation", "Needs a name.", (_args, { mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, "user_name")?.["name"];
    return typeof given === "string" ? say(`Hello, ${given}!`) : ask({ user_name: NAME });
  }),
  tool("test_input_required_result_sampling", "Needs the client's model.", (_args, ctx) => {
    const sampled = sampledIn(ctx, "sample_request");
    return sampled === undefined
      ? ask({ sample_request: prompt("What is the capital of France?") })
      : say(`Sampling result: ${sampled}`);
  }),
  tool("test_input_required_result_list_roots", "Needs the client's roots.", (_args, { mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, "roots_request");
    return view.kind === "roots"
      ? say(`Found ${view.roots.length} root(s)`)
      : ask({ roots_request: inputRequired.listRoots() });
  }),
  tool("test_input_required_result_request_state", "Needs its state back.", async (_args, { mcpReq }) => {
    const isConfirmed = acceptedContent(mcpReq.inputResponses, "confirm")?.["ok"] === true;
    if (isConfirmed && mcpReq.requestState<State>()?.["kind"] === "state") return say("state-ok");
    return ask({ confirm: CONFIRM }, await STATE.mint({ kind: "state" }));
  }),
  tool("test_input_required_result_tampered_state", "Refuses changed state.", async (_args, { mcpReq }) => {
    const isConfirmed = acceptedContent(mcpReq.inputResponses, "confirm") !== undefined;
    if (isConfirmed && mcpReq.requestState<State>()?.["kind"] === "tamper") return say("integrity-ok");
    return ask({ confirm: CONFIRM }, await STATE.mint({ kind: "tamper" }));
  }),
  tool("test_input_required_result_multiple_inputs", "Needs three things at once.", async (_args, ctx) => {
    const { inputResponses } = ctx.mcpReq;
    const name = acceptedContent(inputResponses, "user_name")?.["name"];
    const greeting = sampledIn(ctx, "greeting");
    const roots = inputResponse(inputResponses, "client_roots");
    if (typeof name === "string" && greeting !== undefined && roots.kind === "roots")
      return say(`Name: ${name}; greeting: ${greeting}; roots: ${roots.roots.length}`);
    const wanted = {
      user_name: NAME,
      greeting: prompt("Generate a greeting"),
      client_roots: inputRequired.listRoots(),
    };
    return ask(wanted, await STATE.mint({ kind: "many" }));
  }),
  tool("test_input_required_result_multi_round", "Needs two rounds.", async (_args, { mcpReq }) => {
    const state = mcpReq.requestState<State>();
    const name = acceptedContent(mcpReq.inputResponses, "step1")?.["name"];
    const color = acceptedContent(mcpReq.inputResponses, "step2")?.["color"];
    if (state?.["round"] === "2" && typeof color === "string") return say(`${state["name"]} likes ${color}`);
    if (state?.["round"] === "1" && typeof name === "string") {
      const step2 = form("What is your favorite color?", { color: { type: "string" } }, ["color"]);
      return ask({ step2 }, await STATE.mint({ round: "2", name }));
    }
    return ask({ step1: NAME }, await STATE.mint({ round: "1" }));
  }),
  tool(
    "test_input_required_result_capabilities",
    "Asks only what the client can.",
    async (_args, ctx, { client }) => {
      const answered = Object.keys(ctx.mcpReq.inputResponses ?? {});
      if (answered.length > 0) return say(`capabilities-ok: received ${answered.join(",")}`);
      const wanted = {
        ...(client.elicitation && { elicit_input: form("A value", { value: { type: "string" } }) }),
        ...(client.sampling && { sample_input: prompt("Sample request") }),
      };
      return Object.keys(wanted).length === 0
        ? say("The client can do nothing.")
        : ask(wanted, await STATE.mint({ kind: "capabilities" }));
    },
  ),
];
