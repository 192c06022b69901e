/** What answers requests by one config: the endpoints, the books and the loop. */
import type { WorkerHost } from "../../../gateway/seams.ts";
import { loopSeams } from "../loop/seams.ts";
import { Samplers } from "../sampling/serve.ts";
import type { ToolsConfig } from "../section.ts";
import { ProcessBench } from "./bench.ts";
import { Books } from "./books.ts";
import { Endpoint, type EndpointOptions } from "./endpoint.ts";
import { listTools } from "./list.ts";
import { memoryOf } from "./memory.ts";
import type { Serving } from "./routes.ts";

interface ServingOptions extends Pick<EndpointOptions, "access" | "ask" | "open" | "current" | "origins"> {
  readonly host: WorkerHost;
  readonly options: ToolsConfig;
}

export function serve({ host, options, ...front }: ServingOptions): Serving {
  const { access, ask } = front;
  const samplers = new Samplers(host, options.sampling);
  const { book } = new Books(host, ask, options, samplers);
  const bench = new ProcessBench(host, ask, access, { options, samplers });
  const { bodyBytes, lean, run } = options;
  const { post, stream, end } = new Endpoint({ ...front, book, bodyBytes, isLean: lean === "search" });
  return { post, stream, end, list: listTools(bench, options), loop: loopSeams(bench, run, memoryOf(ask)) };
}
