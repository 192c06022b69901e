/** Options that take effect only at a start, each with the value to compare at a reload. */
import type { Config } from "./schema.ts";

export const FIXED: Readonly<Record<string, (config: Config) => unknown>> = {
  host: ({ host }) => host,
  port: ({ port }) => port,
  workers: ({ workers }) => workers,
  listen: ({ listen }) => `${listen.unix} ${listen.mode}`,
  tls: ({ tls }) => tls.cert !== undefined || tls.issuer !== undefined,
  watch: ({ watch }) => watch,
  state: ({ state }) => state,
  admin: ({ admin }) => (admin === "off" ? admin : JSON.stringify({ ...admin, keys: undefined })),
  metrics: ({ metrics: { keys, maxSeries } }) => `${keys} ${maxSeries}`,
  responses: ({ responses: { store, answerBytes, answerItems, fileBytes } }) =>
    [store, answerBytes, answerItems, fileBytes].join(),
};
