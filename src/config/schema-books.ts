/** Sections of the configuration that concern the books: admin API, metrics. */
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, oneOf } from "./schema-kinds.ts";

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

export const adminOption = Type.Unsafe<"off" | Static<typeof adminListener>>(
  Type.Union([Type.Literal("off"), adminListener], {
    default: {},
    "x-expects": "off, or a group of `host`, `port` and `names`",
    examples: [{ host: "127.0.0.1", port: 9348 }],
    description:
      "The listener of the admin API and of `/metrics`. Default: `host: 127.0.0.1` and port 9348, or a free port if that is taken. A configured port that is taken stops the start. An address that other machines can reach requires an admin key; `names` lists further host names by which clients reach it. `off`: no listener.",
  }),
);

/** A key for the admin API as weir stores it. */
export interface AdminKey {
  name: string;
  /** SHA-256 of the key, 64 lower-case hexadecimal digits. */
  sha256: string;
  role?: "admin" | "read";
  path?: string;
  expires?: string;
}

export const adminKeysOption = Type.Unsafe<readonly AdminKey[]>(
  Type.Array(
    Type.Object(
      {
        name: Type.String({ description: "Name of the key's owner." }),
        key: Type.Optional(Type.String({ writeOnly: true, description: "The key itself." })),
        sha256: Type.Optional(
          Type.String({
            writeOnly: true,
            pattern: "^[0-9a-fA-F]{64}$",
            "x-expects": "64 hexadecimal digits",
            description: "The SHA-256 digest of the key.",
          }),
        ),
        role: Type.Optional(oneOf(["admin", "read"], { description: "Default `read`." })),
        path: Type.Optional(Type.String({ description: "It sees and changes only this path and below." })),
        expires: Type.Optional(Type.String({ description: "Its last day, or a time." })),
      },
      CLOSED,
    ),
    {
      default: [],
      examples: [
        [{ name: "prometheus", sha256: "6bdf6d1e8d6bbc0d0e5bb8e0ab2a5c2f4b5c8d5b1a0b3d9a1c6d9e7f20415a3c" }],
      ],
      description:
        "Keys for the admin API and `/metrics`: `{name, key}` or `{name, sha256}`, with `role: admin` or `read` (default), `path` and `expires`.",
    },
  ),
);

export const metricsSection = Type.Object(
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
);
