/** What the rendering of a request depends on besides the request. */
import type { Call } from "../../../core/call.ts";
import type { ToolNames } from "../../../core/ids.ts";
import type { Traits } from "../../../core/provider.ts";
import type { ModelFacts } from "../models.ts";

export interface EncodeContext {
  call: Call;
  /** Name of the provider the request goes to. */
  provider: string;
  traits: Traits;
  facts: ModelFacts | undefined;
  names: ToolNames;
}

export const FORMAT = "chat-completions";
