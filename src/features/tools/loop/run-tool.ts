/** Runs one tool that a model calls. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { toolScreen } from "../../../core/tool-screen.ts";
import type { Bench } from "../bench.ts";
import { McpError } from "../wire/messages.ts";
import { failure, type Outcome, readResult } from "./results.ts";

/** @param call of the client @throws GatewayError where a budget, a limit or a part of weir does not permit the call */
export async function runTool(
  bench: Bench,
  call: Call,
  { name, input, annotations = {} }: { name: string; input: JsonObject; annotations?: JsonObject },
  stop: AbortSignal,
): Promise<Outcome> {
  const screen = toolScreen.get(call);
  try {
    const instead = screen?.instead?.(name, annotations);
    if (instead) return readResult(instead, name);
    const given = screen ? await screen.arguments(name, input) : input;
    const asked = { name, arguments: given, principal: call.principal, parent: call };
    const result = await bench.call({ ...asked, stop });
    return readResult(screen ? await screen.result(name, result) : result, name);
  } catch (thrown) {
    if (thrown instanceof McpError) return failure(thrown.message);
    if (thrown instanceof GatewayError) throw thrown;
    return failure("The tool could not be run.");
  }
}
