/** The config that runs. */
import { operation } from "../operation.ts";
import { ConfigSource, EffectiveConfig, Reloaded } from "../../operator/config.ts";

export const configOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/config",
    id: "getConfig",
    summary: "The options in effect, where each comes from, and what a reload would change",
    access: "read",
    wholeGateway: true,
    answer: { name: "EffectiveConfig", schema: EffectiveConfig },
    errors: ["gateway_failed"],
    handle: async ({ books }) => ({ json: await books.gateway.ask({ what: "config" }) }),
  }),
  operation({
    method: "GET",
    path: "/admin/v1/config/source",
    id: "getConfigSource",
    summary: "The config file as it is on the disk, without secrets",
    access: "read",
    wholeGateway: true,
    answer: { name: "ConfigSource", schema: ConfigSource },
    errors: ["gateway_failed"],
    handle: async ({ books }) => ({ json: await books.gateway.ask({ what: "config-source" }) }),
  }),
  operation({
    method: "POST",
    path: "/admin/v1/config/reload",
    id: "reloadConfig",
    summary: "Reloads the config and the plugins, as SIGHUP does",
    access: "write",
    wholeGateway: true,
    alone: true,
    answer: { name: "Reloaded", schema: Reloaded },
    errors: ["gateway_failed"],
    handle: async ({ books }) => ({ json: await books.gateway.ask({ what: "reload" }) }),
  }),
];
