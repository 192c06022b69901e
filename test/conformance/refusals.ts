/** The requests that may be refused with 400 instead of translated: class R of E.11, and what E.1.3, E.2.3 add. */
import type { Api } from "./policy.ts";

/** By API of the client: a pattern over the field the answer names, and why. */
const REFUSED: Record<Api, readonly (readonly [RegExp, string])[]> = {
  chat: [
    [/^temperature$/, "temperature is a number from 0 to 2"],
    [/^n$/, "several choices (E.11)"],
    [/^(top_)?logprobs$/, "logprobs (E.11)"],
    [/^(modalities|audio)$/, "audio in the answer (E.11)"],
    [
      /input_audio|^messages\[\d+\]\.content\[\d+\]$/,
      "audio, or bytes the model's vendor does not take (E.1.3b)",
    ],
    [/\.file(\.|$)/, "a file of another kind, or one that lies at the other vendor (E.1.3b)"],
    [/\.image_url(\.|$)/, "an image of another kind, or at an address that is not https (E.1.3b)"],
    [/^web_search_options$/, "the vendor's own search (E.11)"],
    [/^tool_choice$/, "a forced tool that does not exist (E.1.4)"],
  ],
  messages: [
    [/^(container|mcp_servers|thread|compaction|fallbacks)$/, "state at the vendor (E.2.1)"],
    [/^tools/, "a server tool is the only tool (E.2.4)"],
    [
      /\.source(\.|$)|content(\[\d+\]|\.\d+)/,
      "a file that lies at the other vendor, or at an address (E.2.3)",
    ],
    [/^tool_choice/, "a forced tool that does not exist (E.11)"],
    [/^temperature$/, "temperature is a number from 0 to 2"],
    [/^max_tokens$/, "max_tokens is required, and positive"],
  ],
};

/** Why a request that names this field in its refusal may be refused; `undefined`: it may not. */
export function refusalReason(api: Api, field: string): string | undefined {
  return REFUSED[api].find(([pattern]) => pattern.test(field))?.[1];
}
