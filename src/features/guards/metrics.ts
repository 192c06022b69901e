/** Metrics of guards. */
import { counter, histogram } from "../../core/metric.ts";

export const guardVerdicts = counter(
  "weir_guard_verdicts_total",
  ["guard", "phase", "verdict"],
  "Requests (`input`) and answers (`output`) by what each guard did with them: passed, flagged, masked, replaced, unavailable, blocked.",
);

export const guardSeconds = histogram(
  "weir_guard_seconds",
  ["guard", "phase"],
  [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
  "Time that a guard took for a request or an answer.",
);

export const guardUnavailable = counter(
  "weir_guard_unavailable_total",
  ["guard", "phase"],
  "Requests and answers that a guard could not judge.",
);

export const guardUninspected = counter(
  "weir_guard_uninspected_total",
  ["guard", "kind"],
  "Content in front of a guard that weir cannot read.",
);

export const guardUnrestored = counter(
  "weir_guard_unrestored_total",
  ["kind"],
  "Tokens in answers for which the call has no value: a model has made one up or changed one.",
);

export const guardCanaries = counter(
  "weir_guard_canary_total",
  ["guard", "result"],
  "Values that weir sent through a guard by itself: `held`, or `out` if the provider or the client got one.",
);

export const GUARD_METRICS = [
  guardCanaries,
  guardVerdicts,
  guardSeconds,
  guardUnavailable,
  guardUninspected,
  guardUnrestored,
];
