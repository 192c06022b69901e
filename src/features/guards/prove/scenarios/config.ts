/** The part of the config of a proof that its scenarios need. */

const ABSENT = "http://127.0.0.1:9/check";

/** Guards of a service that is not there. */
export const SCENARIO_GUARDS = {
  closed: { webhook: ABSENT, do: "block", on: ["input"], models: ["*/closed"], timeout: "500ms" },
  open: {
    webhook: ABSENT,
    do: "block",
    on: ["input"],
    models: ["*/open"],
    timeout: "500ms",
    onError: "pass",
  },
};

/** The model of which a fallback alone is guarded, and the others. */
export const SCENARIO_MODELS = ["fails", ...Object.keys(SCENARIO_GUARDS)];
export const SCENARIO_FALLBACKS = { "p-chat-completions/fails": ["p-messages/email-replace"] };
