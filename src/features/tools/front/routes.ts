/** The endpoints of the gateway's listener, and where the loop meets calls. */
import type { OwnRoute, Seams } from "../../../gateway/seams.ts";
import { documentRoutes } from "../auth/resources.ts";
import type { LoopSeams } from "../loop/seams.ts";

type Handle = OwnRoute["handle"];

/** What answers at the endpoints, and runs tools for models, by one config. */
export interface Serving {
  readonly post: Handle;
  readonly stream: Handle;
  readonly end: Handle;
  readonly list: Handle;
  readonly loop: LoopSeams;
}

/** @param load loads code, which a start does not wait for: the first request does */
export function lateSeams(load: () => Promise<Serving>): Seams {
  let serving: Serving | undefined;
  let loading: Promise<Serving> | undefined;
  const loaded = () => (loading ??= load().then((value) => (serving = value)));
  return {
    routes: [...mcpRoutes(loaded), ...documentRoutes()],
    around: {
      at: "loop",
      run: (entry, next) =>
        serving
          ? serving.loop.around.run(entry, next)
          : loaded().then(({ loop }) => loop.around.run(entry, next)),
    },
    // Only calls that the loop has seen are for it.
    hooks: { intercept: (view) => serving?.loop.hooks.intercept(view) },
    foresee: async (incoming, registry) => (await loaded()).loop.foresee(incoming, registry),
  };
}

function mcpRoutes(loaded: () => Promise<Serving>): OwnRoute[] {
  const by =
    (name: "post" | "stream" | "end" | "list"): Handle =>
    async (request, visit) =>
      (await loaded())[name](request, visit);
  const [message, stream, end] = [
    "A message of the Model Context Protocol",
    "The stream of a session of the Model Context Protocol",
    "End a session of the Model Context Protocol",
  ];
  const at = (path: string, id: string): OwnRoute[] => [
    { method: "POST", path, id: `callTools${id}`, summary: message, handle: by("post") },
    { method: "GET", path, id: `listenTools${id}`, summary: stream, handle: by("stream") },
    { method: "DELETE", path, id: `endTools${id}`, summary: end, handle: by("end") },
  ];
  return [
    ...at("/mcp", "Merged"),
    ...at("/mcp/{server}", "Server"),
    {
      ...{ method: "GET", path: "/v1/tools", id: "listTools", summary: "The tools that the caller may use" },
      handle: by("list"),
    },
  ];
}
