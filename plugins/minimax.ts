import type { CallView, JsonObject } from "weir";
import { definePlugin, messages } from "weir";
import { dropFields } from "./shared/quirks.ts";
import { regions } from "./shared/regions.ts";

/** The lowest temperature that MiniMax accepts is above zero. */
const LOWEST = 0.01;

/** MiniMax ignores the others without a word (https://platform.minimax.io/docs/api-reference/text-anthropic-api). */
function fitFields(body: JsonObject, call: CallView): void {
  dropFields(body, ["top_k", "stop_sequences"], call, "MiniMax ignores the field");
  if (body.temperature !== 0) return;
  body.temperature = LOWEST;
  call.reportLoss(
    "clamped",
    call.request?.paths?.temperature ?? "temperature",
    `the lowest value is ${LOWEST}`,
  );
}

/**
 * MiniMax at its messages address: only there the reasoning has blocks of its own, with the signatures that later turns need.
 */
export default definePlugin({
  name: "minimax",
  providers: [
    messages({
      name: "minimax",
      models: ["minimax/*", "MiniMax-*"],
      ...regions(
        { intl: "https://api.minimax.io/anthropic", cn: "https://api.minimaxi.com/anthropic" },
        "MINIMAX_REGION",
      ),
      apiKey: "MINIMAX_API_KEY",
      patch: fitFields,
      catalog: ["MiniMax-M3", "MiniMax-M2.7", "MiniMax-M2.5"],
    }),
  ],
});
