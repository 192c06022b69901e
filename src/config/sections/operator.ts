/** The admin API and the metrics. */
import { hostNameFaults } from "../address.ts";
import { type Fault, faultAt, type Path } from "../error.ts";
import { section } from "../section.ts";
import { type Static, Type } from "@sinclair/typebox";
import { type AdminKey, adminKeyList, adminKeys, readAdminKeys, twinFaults } from "./keys.ts";
import { CLOSED } from "./kinds.ts";

const adminListener = Type.Object(
  {
    host: Type.Optional(Type.String({ description: "Address to listen on." })),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: "Port to listen on." })),
    names: Type.Optional(
      Type.Array(Type.String(), {
        description: "Host names by which clients reach it, besides those of `names`.",
      }),
    ),
    base: Type.Optional(
      Type.String({
        pattern: "^(/[A-Za-z0-9._~-]+)+$",
        "x-expects": "a path such as /weir",
        examples: ["/weir"],
        description:
          "Path before `/console` and `/admin/v1` at a proxy that gives weir a part of its addresses. The proxy may remove it or leave it.",
      }),
    ),
    keys: Type.Optional(
      adminKeyList({
        description:
          "Keys for it and for `/metrics`: `{name, key}` or `{name, sha256}`, with `role: admin` or `read` (default), `path` and `expires`.",
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
      "x-expects": "off, or a group of `host`, `port`, `names`, `base` and `keys`",
      examples: [{ host: "127.0.0.1", port: 9348 }],
      description:
        "The listener of the admin API and of `/metrics`. Default: `host: 127.0.0.1` and port 9348, or a free port if that is taken. A configured port that is taken stops the start. An address that other machines can reach requires an admin key; `names` lists further host names by which clients reach it, `base` the path at a proxy, `keys` its keys. `off`: no listener.",
    }),
  ),
  {
    readsSecrets: true,
    settle: (written, { locate }) =>
      written === "off" || written.keys === undefined
        ? written
        : { ...written, keys: readAdminKeys(written.keys, locate, KEYS) },
    agrees: (value, config) =>
      value === "off"
        ? []
        : [...hostNameFaults(["admin", "names"], value.names ?? []), ...keyFaults(value.keys ?? [], config)],
  },
);

const KEYS = ["admin", "keys"];

/** A key has one place in the config. */
function keyFaults(list: readonly AdminKey[], config: object): Fault[] {
  const others = adminKeys.of(config);
  const repeated = list.flatMap(({ name, sha256 }, index) => {
    const path = [...KEYS, index];
    const twin = others.find((other) => other.sha256 === sha256);
    const namesake = others.find((other) => other.name === name);
    return [
      ...faultAt(path, twin && `admin.keys[${index}] is the same key as ${twin.name} of adminKeys`),
      ...faultAt(path, namesake && `admin.keys[${index}] has the name ${name}, which a key of adminKeys has`),
    ];
  });
  return [...twinFaults(list, KEYS, config), ...repeated];
}

/** The keys for the admin API, of both lists, each with its path in the config. */
export function adminKeysOf(config: {
  admin?: Static<typeof admin.schema>;
  adminKeys?: readonly AdminKey[];
}): { key: AdminKey; at: Path }[] {
  const own = config.admin === "off" ? [] : (config.admin?.keys ?? []);
  return [
    ...own.map((key, index) => ({ key, at: [...KEYS, index] })),
    ...(config.adminKeys ?? []).map((key, index) => ({ key, at: ["adminKeys", index] })),
  ];
}

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
