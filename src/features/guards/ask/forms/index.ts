/** The forms by their names. */
import { agentgateway } from "./agentgateway.ts";
import type { Form } from "./form.ts";
import { litellm } from "./litellm.ts";
import { portkey } from "./portkey.ts";

export const FORM_OF: Readonly<Record<"litellm" | "portkey" | "agentgateway", Form>> = {
  ...{ litellm, portkey, agentgateway },
};
