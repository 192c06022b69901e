/** Helpers that the `patch` functions of several providers share. */
import type { CallView, JsonObject } from "weir";

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

/** Removes members that the client set, and reports each. @param reason as in the report: `Zhipu does not know the field` */
export function dropFields(body: JsonObject, names: readonly string[], call: CallView, reason: string): void {
  for (const name of names) {
    if (body[name] == null) continue;
    delete body[name];
    call.reportLoss("dropped", pathOf(name, call), reason);
  }
}

/** The names of the fields in the canonical request, which knows where the client wrote them. */
const FIELDS = { temperature: "temperature", top_p: "topP", top_k: "topK", stop_sequences: "stop" } as const;

function pathOf(name: string, { request }: CallView): string {
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : undefined;
  return (field && request?.paths?.[field]) ?? name;
}
