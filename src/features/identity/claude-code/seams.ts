/** Where Claude Code's part meets the gateway. */
import type { Seams, WorkerHost } from "../../../gateway/seams.ts";
import type { IdentityConfig } from "../declarations.ts";
import type { TokenForm } from "../form.ts";
import { labels } from "./labels.ts";
import { claudeCodeRoutes } from "./routes.ts";
import { claudeCodeOf } from "./section.ts";
import { told } from "./told.ts";

/** @returns no routes, if people may not sign in with it */
export function claudeCodeSeams(
  section: IdentityConfig,
  form: TokenForm,
  host: WorkerHost,
): Pick<Seams, "told" | "around"> & Required<Pick<Seams, "routes">> {
  const config = claudeCodeOf(section);
  if (!config) return { routes: [] };
  const { tag } = config;
  return {
    routes: claudeCodeRoutes(config, form, host),
    told,
    ...(tag !== undefined && { around: { at: "labels", run: labels(tag) } }),
  };
}
