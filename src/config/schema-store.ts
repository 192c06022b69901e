/** The store of keys, budgets, limits and records. */
import { Type } from "@sinclair/typebox";
import type { Secret } from "../core/secret.ts";
import { CLOSED, milliseconds, oneOf, secret } from "./schema-kinds.ts";

/** What weir does with calls of a hard budget when it cannot be granted more because the store is away. */
const ON_LOSS = ["open", "closed", "hard-closed"] as const;

/** Where keys may come from. */
const KEYS = ["both", "file"] as const;

export interface StoreGroup {
  url?: Secret;
  onLoss?: (typeof ON_LOSS)[number];
  keys?: (typeof KEYS)[number];
  syncMs?: number;
  leaseMs?: number;
}

/** Values of the members that a config leaves out. */
export const STORE_DEFAULTS = { onLoss: "hard-closed", keys: "both", syncMs: 50, leaseMs: 900_000 } as const;

export const storeOption = Type.Optional(
  Type.Unsafe<Secret | StoreGroup>(
    Type.Union(
      [
        Type.String({ writeOnly: true, description: "The URL of a PostgreSQL database." }),
        Type.Object(
          {
            url: Type.Optional(
              secret("The URL of a PostgreSQL database: `postgres://user:password@host/name`."),
            ),
            onLoss: Type.Optional(
              oneOf(ON_LOSS, {
                description:
                  "Calls while the store is away and nothing is left of what was granted. `hard-closed`: calls under a hard budget are refused with 503, all others run. `closed`: calls under any budget or rate limit are refused. `open`: all calls run. Default: `hard-closed`.",
              }),
            ),
            keys: Type.Optional(
              oneOf(KEYS, {
                description: "`file`: only the config may contain call keys. Default: `both`, the store too.",
              }),
            ),
            syncMs: Type.Optional(
              milliseconds(STORE_DEFAULTS.syncMs, "Maximum time until a record is written, in milliseconds."),
            ),
            leaseMs: Type.Optional(
              milliseconds(
                STORE_DEFAULTS.leaseMs,
                "A gateway that is silent for this time loses what it was granted, in milliseconds.",
              ),
            ),
          },
          CLOSED,
        ),
      ],
      {
        "x-expects":
          "the URL of a PostgreSQL database, or a group of `url`, `onLoss`, `keys`, `syncMs` and `leaseMs`",
        description:
          "The store of keys, budgets, limits and records. Without a URL: `weir.db` in the state folder. Several gateways share their budgets and limits in a PostgreSQL database: `postgres://user:password@host/name`.",
        examples: [{ onLoss: "open" }],
        "x-env": "WEIR_STORE",
        writeOnly: true,
      },
    ),
  ),
);

export const clusterOption = Type.Boolean({
  default: false,
  description:
    "Whether several gateways share one store. weir then refuses to start without a PostgreSQL database, because every gateway would have budgets and limits of its own.",
});
