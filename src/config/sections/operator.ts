/** The admin API and the metrics. */
import { hostNameFaults } from "../address.ts";
import { type Fault, faultAt } from "../error.ts";
import { section } from "../section.ts";
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, oneOf } from "./kinds.ts";

const adminListener = Type.Object(
  {
    host: Type.Optional(Type.String({ description: "Address to listen on." })),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: "Port to listen on." })),
    names: Type.Optional(
      Type.Array(Type.String(), {
        description: "Host names by which clients reach it, besides those of `names`.",
      }),
    ),
  },
  CLOSED,
);

export const admin = section(
  "admin",
  Type.Unsafe<"off" | Static<typeof adminListener>>(
    Type.Union([Type.Literal("off"), adminListener], {
      default: {},
      "x-expects": "off, or a group of `host`, `port` and `names`",
      examples: [{ host: "127.0.0.1", port: 9348 }],
      description:
        "The listener of the admin API and of `/metrics`. Default: `host: 127.0.0.1` and port 9348, or a free port if that is taken. A configured port that is taken stops the start. An address that other machines can reach requires an admin key; `names` lists further host names by which clients reach it. `off`: no listener.",
    }),
  ),
  { agrees: (value) => (value === "off" ? [] : hostNameFaults(["admin", "names"], value.names ?? [])) },
);

export const metrics = section(
  "metrics",
  Type.Object(
    {
      keys: Type.Boolean({
        default: false,
        description:
          "Metrics by gateway key, for the first 200 keys that call; the others are counted as `other`.",
      }),
      maxSeries: Type.Integer({
        minimum: 1_000,
        maximum: 100_000,
        default: 5_000,
        description: "Maximum number of series. Further ones are counted as `other`.",
      }),
      otlp: Type.Boolean({
        default: false,
        description:
          "Sends the metrics of the GenAI conventions to the collector of `traces.to` every minute, at `/v1/metrics`.",
      }),
    },
    { ...CLOSED, description: "Metrics for Prometheus, at `/metrics` of the admin listener." },
  ),
  { agrees: collectorFaults },
);

/** A flag or a variable may name the collector. A build that cannot send the metrics has no section for it. */
function collectorFaults({ otlp }: { otlp?: boolean }, config: { traces?: { to?: string } }): Fault[] {
  return otlp && config.traces?.to === undefined
    ? faultAt(["metrics", "otlp"], "otlp needs traces.to, the collector that gets the metrics")
    : [];
}
