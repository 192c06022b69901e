/** The form of LiteLLM's "Generic Guardrail API": `litellm/types/proxy/guardrails/guardrail_hooks/generic_guardrail_api.py` of 1.109.1. */
import { isObject } from "../../../../core/json.ts";
import { AskError } from "../asker.ts";
import { WEBHOOK } from "../webhook.ts";
import { type Form, rewritten } from "./form.ts";

export const litellm: Form = {
  path: () => "/beta/litellm_basic_guardrail_api",

  request: ({ phase, call, texts, images, tools }) => ({
    input_type: phase === "output" ? "response" : "request",
    ...{ litellm_call_id: call.id, litellm_trace_id: call.id, model: call.model },
    texts: texts.map(({ text }) => text),
    ...(images.length > 0 && { images: images.map(({ url }) => url) }),
    ...(tools.length > 0 && {
      tools: tools.map(({ schema, ...one }) => ({
        type: "function",
        function: { ...one, ...(schema !== undefined && { parameters: schema }) },
      })),
    }),
    structured_messages: texts.map(({ role = "user", text }) => ({ role, content: text })),
    request_data: {
      user_api_key_hash: call.key ?? null,
      user_api_key_alias: call.name ?? null,
      user_api_key_user_id: call.person ?? null,
      user_api_key_team_id: call.path,
    },
    request_headers: call.headers ?? {},
    additional_provider_specific_params: {},
  }),

  answer(value, batch, holds) {
    if (!isObject(value)) throw new AskError(`the answer of ${WEBHOOK} is no object`);
    const { action, texts, stream_holdback_chars: holdback } = value;
    if (action === "BLOCKED") return { verdict: "block", findings: [] };
    if (action !== "NONE" && action !== "GUARDRAIL_INTERVENED")
      throw new AskError(`the answer of ${WEBHOOK} has no action that weir knows`);
    if (action === "GUARDRAIL_INTERVENED" && !Array.isArray(texts))
      throw new AskError(`${WEBHOOK} changes something else than texts, which weir cannot do`);
    const findings = action === "NONE" ? [] : rewritten(batch, texts as unknown[]);
    if (!holds || batch.final) return { verdict: "pass", findings };
    return { verdict: "pass", findings, holds: holdsOf(holdback, batch.texts) };
  },
};

/** @param holdback characters at the end of each text that wait */
function holdsOf(
  holdback: unknown,
  texts: readonly { readonly text: string }[],
): ReadonlyMap<number, number> {
  if (!Array.isArray(holdback) || holdback.length !== texts.length)
    throw new AskError(`${WEBHOOK} does not say for each text how much of it waits`);
  return new Map(
    texts.map(({ text }, index) => {
      const count: unknown = holdback[index];
      if (typeof count !== "number" || !(count >= 0))
        throw new AskError(`${WEBHOOK} does not say how much of a text waits`);
      return [index, Math.max(0, text.length - Math.ceil(count))];
    }),
  );
}
