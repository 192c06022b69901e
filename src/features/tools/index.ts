/** Tools: weir stands between clients and servers of the Model Context Protocol (MCP), and runs tools for models. */
import type { Feature } from "../../feature/feature.ts";
import { toolCall, toolSet, toolUse } from "./columns.ts";
import { runHeaders } from "./headers.ts";
import { toolsCommands } from "./flags.ts";
import { tools as allowedTools } from "./key-options.ts";
import { toolCalls, toolRepairs } from "./metrics.ts";
import { toolsSection } from "./section.ts";

export const tools: Feature = {
  name: "tools",
  section: toolsSection,
  columns: [toolCall, toolUse, toolSet],
  metrics: [toolCalls, toolRepairs],
  headers: runHeaders,
  keyOptions: [allowedTools],
  commands: toolsCommands,
  worker: () => import("./worker.ts"),
  service: () => import("./service.ts"),
  admin: () => import("./admin.ts"),
  tables: () => import("./tables.ts"),
  keeper: () => import("./keeper.ts"),
};
