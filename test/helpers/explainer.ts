/** What `POST /v1/explain` answers, without a gateway that listens: for tests of what weir would send. */
import { rm } from "node:fs/promises";
import type { Format } from "../../src/core/format.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Clock } from "../../src/gateway/delivery/clock.ts";
import { ReasoningCache } from "../../src/gateway/reasoning/cache.ts";
import type { Registry } from "../../src/gateway/routing/registry.ts";
import type { Gateway } from "../../src/gateway/types.ts";
import { loadConfig } from "../../src/config/load.ts";
import { assemble } from "../../src/run/assemble.ts";
import { Admission } from "../../src/server/admission.ts";
import { createApp } from "../../src/server/app.ts";
import { type Answered, explainRequest, explainedBy } from "./explained.ts";
import { makeFolder } from "./gateway.ts";

export interface Explainer {
  formats: ReadonlyMap<string, Format>;
  registry: Registry;
  explain(format: string, body: JsonObject): Promise<Answered>;
}

/** Assembles a gateway from a config and dropped plugins as a start does, up to its routes. */
export async function createExplainer(options: {
  config: Record<string, unknown>;
  plugins?: Record<string, string>;
}): Promise<Explainer> {
  const folder = await makeFolder(options);
  const { config } = loadConfig({ flags: {}, env: {}, cwd: folder });
  const { registry, catalog } = await assemble(config, {});
  // Plugins are loaded; nothing reads the folder again.
  await rm(folder, { recursive: true });
  const { retries, strict, cors, limits } = config;
  const app = createApp({
    // An explanation needs no more of a gateway; without a part that it needs it would be a 500, which fails the test.
    gateway: {
      ...{ registry, catalog, retries, strict, hooks: [] },
      ...{ clock: new Clock(), reasoning: new ReasoningCache() },
    } as unknown as Gateway,
    ...{ cors, limits },
    life: {},
    secure: false,
    keyed: false,
    authenticate: () => undefined,
    admission: new Admission(limits),
    address: () => "",
    allowSilence: () => {},
    disconnect: () => {},
    version: "0",
    state: () => "ok",
  });
  return {
    formats: registry.formats,
    registry,
    explain: async (format, body) =>
      explainedBy(await app.fetch(explainRequest("http://127.0.0.1", format, body))),
  };
}
