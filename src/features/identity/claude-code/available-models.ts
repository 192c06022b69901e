/** The models to which a caller is restricted, by their names, for the list of models that Claude Code offers. */
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";

const MOST_NAMES = 200;

/** @returns undefined for a caller that may use all models, and where no name is known */
export async function modelNames(
  principal: Principal,
  host: Pick<WorkerHost, "served">,
): Promise<readonly string[] | undefined> {
  const { models } = principal.options.scopes;
  if (!Array.isArray(models)) return undefined;
  const written = models.filter((name): name is string => typeof name === "string" && !/[*@]/.test(name));
  const isWhole = written.length === models.length;
  const listed = isWhole ? [] : (await host.served().catalog.list(principal)).map(({ id }) => id);
  const names = [...new Set([...written, ...listed])].sort().slice(0, MOST_NAMES);
  return names.length === 0 ? undefined : names;
}
