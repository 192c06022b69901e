/** Helpers that the `patch` functions of several providers share. */
import type { CallView } from "weir";

/** Returns the JSON path of the effort in the client's request, for losses. */
export function effortPath({ request }: CallView): string {
  const { paths, reasoning } = request ?? {};
  const isSwitch = reasoning?.mode === "budget" || reasoning?.mode === "off";
  // Without a canonical request the body is the client's own.
  return (isSwitch ? paths?.reasoning : paths?.effort) ?? "reasoning_effort";
}

/** Whether `patch` got a chat-completions body: hosts that speak two formats often need a patch in one only. */
export function isChatBody(call: CallView): boolean {
  return call.target?.format === "chat-completions";
}

/** Returns the provider's name of the model, without the part before its last slash. */
export function modelOf(call: CallView): string {
  return (call.target?.model ?? call.model).split("/").at(-1)!;
}
