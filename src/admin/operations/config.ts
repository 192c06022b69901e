/** The config that runs. */
import { answers } from "../operation.ts";
import { getConfig, getConfigSource, reloadConfig } from "../../operator/config.ts";

export const configOperations = [
  answers(getConfig, async ({ books }) => ({ json: await books.gateway.ask({ what: "config" }) })),
  answers(getConfigSource, async ({ books }) => ({
    json: await books.gateway.ask({ what: "config-source" }),
  })),
  answers(reloadConfig, async ({ books }) => ({ json: await books.gateway.ask({ what: "reload" }) })),
];
