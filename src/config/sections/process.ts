/** Files of the config, the log, and the processes of weir. */
import { Type } from "@sinclair/typebox";
import { section } from "../section.ts";
import { CLOSED, oneOf } from "./kinds.ts";

export const include = section(
  "include",
  Type.Array(Type.String(), {
    default: [],
    examples: [["conf.d/*.yaml"]],
    description:
      "Further config files, whose options join those of this one. A path begins at the file that names it; `*` stands for any part of a name. An option or a name may be set in one file only; lists are joined.",
  }),
);

export const log = section(
  "log",
  Type.Object(
    {
      format: oneOf(["auto", "json", "pretty"], {
        default: "auto",
        description: "`auto`: readable on a terminal, JSON lines otherwise.",
        "x-flag": "--log-format",
        "x-env": "WEIR_LOG",
      }),
      level: oneOf(["info", "warn", "error", "silent"], {
        default: "info",
        description:
          "`info`: every call; `warn`: failed calls; `error`: internal errors of the gateway; `silent`: nothing.",
        "x-flag": "--log-level",
      }),
    },
    {
      ...CLOSED,
      description: "The log on standard output: one line per call, never with prompts or keys.",
    },
  ),
);

export const workers = section(
  "workers",
  Type.Integer({
    minimum: 0,
    maximum: 256,
    default: 0,
    description:
      "Number of processes that share the port. 0: one per core on Linux, one on other systems and with a unix socket. Each process has its own limits, circuit breakers and caches.",
    "x-flag": "--workers",
    "x-env": "WEIR_WORKERS",
  }),
);

export const watch = section(
  "watch",
  oneOf(["auto", "on", "off"], {
    default: "auto",
    description:
      "Whether weir reloads by itself, within seconds, when a file that the config is made of changes: config files, files of secrets, certificates, plugins. `auto`: in Kubernetes. With `off`, `weir reload` does it.",
  }),
  {
    settle: (value, { isInKubernetes }) => (value === "auto" ? (isInKubernetes ? "on" : "off") : value),
  },
);
