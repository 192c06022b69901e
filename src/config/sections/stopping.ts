/** How a gateway ends: the wait before it refuses connections, and the time that its running calls get. */
import { Type } from "@sinclair/typebox";
import { section, type WrittenConfig } from "../section.ts";
import { CLOSED, milliseconds } from "./kinds.ts";

/** Kubernetes waits this long before it takes a pod that stops out of its endpoints, or longer. Milliseconds. */
const DELAY_IN_CLUSTER_MS = 5_000;
/** Kubernetes kills a pod 30 s after SIGTERM, unless the pod sets another time. The whole stop takes less. Milliseconds. */
const STOP_IN_CLUSTER_MS = 25_000;
/** What comes after the grace period at most: errors reach the clients, the keeper closes its files. Milliseconds. */
const REST_MS = 4_000;

export const stop = section(
  "stop",
  Type.Object(
    {
      delayMs: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 120_000,
          examples: [5_000],
          description:
            "How long weir goes on to take calls after SIGTERM, in milliseconds, while `/health` answers 503, so that load balancers send no more. Default: 0; 5,000 in Kubernetes.",
        }),
      ),
    },
    { ...CLOSED, description: "What weir does between SIGTERM and the end of its process." },
  ),
  {
    settle: (written, { isInKubernetes }) => ({ delayMs: delayOf(written, isInKubernetes) }),
  },
);

export const graceMs = section(
  "graceMs",
  milliseconds(
    30_000,
    "How long calls in flight may continue after SIGTERM and `stop.delayMs`, in milliseconds. Then weir ends them with an error. Default in Kubernetes: what fits into 25 s, 16,000.",
  ),
  {
    settle: (value, { isInKubernetes, originOf, values }) =>
      isInKubernetes && originOf("graceMs") === "default" ? Math.min(value, graceInCluster(values)) : value,
  },
);

function delayOf({ delayMs }: { delayMs?: number }, isInKubernetes: boolean): number {
  return delayMs ?? (isInKubernetes ? DELAY_IN_CLUSTER_MS : 0);
}

function graceInCluster(values: WrittenConfig): number {
  const delay = delayOf((values["stop"] ?? {}) as { delayMs?: number }, true);
  return Math.max(1, STOP_IN_CLUSTER_MS - REST_MS - delay);
}

/** When a gateway that stops does what. */
export interface StopTimes {
  /** Time in which it goes on to take calls. Milliseconds. */
  delayMs: number;
  /** Time that running calls then get. Milliseconds. */
  graceMs: number;
}

/** The times of a config. */
export function stopTimes(config: { stop: { delayMs?: number }; graceMs: number }): StopTimes {
  return { delayMs: config.stop.delayMs ?? 0, graceMs: config.graceMs };
}
