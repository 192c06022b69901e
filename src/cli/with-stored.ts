/** Models of the store, for commands that read the config: a gateway that was started in the same folder, with the same port, has them. */
import type { Assembled } from "../run/assemble.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { JsonObject } from "../core/json.ts";
import { StoredModels } from "../run/stored-models.ts";
import { HttpApi, listAll } from "./books/api.ts";
import type { Context } from "./command.ts";
import { runningGateways } from "../run/run-file.ts";

type View = JsonObject & { name: string };

/** Adds the stored models of a running gateway to what the config serves; without one there is nothing to add. */
export async function withStored(
  parts: Assembled,
  { config, locate }: Pick<LoadedConfig, "config" | "locate">,
  { env, cwd, printError }: Pick<Context, "env" | "cwd" | "printError">,
): Promise<void> {
  const running = runningGateways(env).find(
    ({ port, folder = cwd, admin }) => admin && port === config.port && folder === cwd,
  );
  if (!running?.admin) return;
  const { url, credential } = running.admin;
  try {
    const views = await listAll(new HttpApi(url, credential), "GET /stored-models", "models");
    const stored = new StoredModels({
      awaits: false,
      onChange: () => {},
      report: (sentence) => printError(`weir: ${sentence}`),
    });
    const models = views.flatMap(({ name, state, why: _, version: __, ...spec }) =>
      state === "damaged" ? [] : [{ id: `model:${name}`, name, spec }],
    );
    stored.receive({
      kind: "policy",
      policy: { version: 0, keys: [], budgets: [], rates: [], closed: false, models },
    });
    stored.apply({ config, parts, locate });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    printError(
      `weir: models of the store are left out, because the running gateway does not tell them: ${why}`,
    );
  }
}
