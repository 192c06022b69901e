/** The store of keys, budgets, limits and records. */
import { type Fault, faultAt } from "../error.ts";
import { section } from "../section.ts";
import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Secret } from "../../core/secret.ts";
import { CLOSED, milliseconds, oneOf, secret } from "./kinds.ts";

/** Treatment of calls of a hard budget when it cannot be granted more because the store is away. */
const ON_LOSS = ["open", "closed", "hard-closed"] as const;

/** Where keys may come from. */
const KEYS = ["both", "file"] as const;

export interface StoreGroup {
  url?: Secret;
  onLoss?: (typeof ON_LOSS)[number];
  keys?: (typeof KEYS)[number];
  syncMs?: number;
  leaseMs?: number;
  sealKey?: Secret;
  oldSealKeys?: readonly Secret[];
}

/** Values of the members that a config leaves out. */
export const STORE_DEFAULTS = { onLoss: "hard-closed", keys: "both", syncMs: 50, leaseMs: 900_000 } as const;

const storeSchema = Type.Optional(
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
            sealKey: Type.Optional(
              secret(
                "Key that seals what weir keeps of secrets: at least 32 characters, the same in all gateways. Default: that of a file in the state folder.",
              ),
            ),
            oldSealKeys: Type.Optional(
              Type.Array(secret("A key of before."), {
                description: "Keys of before, until `weir secrets rekey` has run.",
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
          "the URL of a PostgreSQL database, or a group of `url`, `onLoss`, `keys`, `sealKey`, `oldSealKeys`, `syncMs` and `leaseMs`",
        description:
          "The store of keys, budgets, limits and records. Without a URL: `weir.db` in the state folder. Several gateways share their budgets and limits in a PostgreSQL database: `postgres://user:password@host/name`.",
        examples: [{ onLoss: "open" }],
        "x-env": "WEIR_STORE",
        writeOnly: true,
      },
    ),
  ),
);

export const store = section("store", storeSchema, { agrees: storeFaults });

export const cluster = section(
  "cluster",
  Type.Boolean({
    default: false,
    description:
      "Whether several gateways share one store. weir then refuses to start without a PostgreSQL database, because every gateway would have budgets and limits of its own.",
  }),
  { agrees: clusterFaults },
);

export const state = section(
  "state",
  Type.Optional(
    Type.String({
      description:
        "Folder of weir's databases. A relative path is relative to the config file, or to the working directory with the flag or the variable. `none`: in memory, lost when weir ends. Without it: `STATE_DIRECTORY`, which systemd sets.",
      "x-path": true,
      "x-no-path": "none",
      examples: ["/var/lib/weir"],
      "x-flag": "--state",
      "x-env": "WEIR_STATE",
    }),
  ),
  {
    settle: (written, { folderOf }) => (written === "none" ? "none" : resolve(folderOf("state"), written)),
  },
);

/** Keys that seal what is kept at rest, the one of now first. */
export function sealKeysOf(config: object): string[] {
  const value = store.of(config);
  const { sealKey, oldSealKeys = [] }: StoreGroup = value instanceof Secret || !value ? {} : value;
  return [...(sealKey ? [sealKey] : []), ...oldSealKeys].map((key) => key.reveal());
}

/** Characters. */
const SHORTEST_KEY = 32;

const urlOf = (value: Static<typeof storeSchema> | undefined) =>
  value instanceof Secret ? { url: value, path: ["store"] } : { url: value?.url, path: ["store", "url"] };

function storeFaults(value: Static<typeof storeSchema> | undefined): Fault[] {
  const { url, path } = urlOf(value);
  const { sealKey } = value instanceof Secret || !value ? {} : (value as StoreGroup);
  if (sealKey && sealKey.reveal().length < SHORTEST_KEY)
    return faultAt(["store", "sealKey"], `sealKey must have at least ${SHORTEST_KEY} characters`);
  return url && !/^postgres(ql)?:\/\/./.test(url.reveal())
    ? faultAt(path, "the store must be a URL that begins with postgres://")
    : [];
}

function clusterFaults(isCluster: boolean, config: object): Fault[] {
  return isCluster && !urlOf(store.of(config)).url
    ? faultAt(
        ["cluster"],
        "cluster is true, and there is no store that several gateways can share; set store to the URL of a PostgreSQL database",
      )
    : [];
}
