/** Metrics of tokens. */
import { counter } from "../../core/metric.ts";

export const tokensChecked = counter(
  "weir_tokens_checked_total",
  ["issuer", "result"],
  "Tokens of issuers that were verified (`ok`) or refused, by the reason. A token that is known is not verified again.",
);
