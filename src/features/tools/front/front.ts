/** Puts the endpoints of the tools together for one config. */
import type { Lines } from "../../../core/lines.ts";
import type { OwnRoute, WorkerHost } from "../../../gateway/seams.ts";
import type { Ask, Piece } from "../asks.ts";
import type { ToolsConfig } from "../section.ts";
import { Access } from "./access.ts";
import { Books } from "./books.ts";
import { mcpRoutes } from "./routes.ts";

/** @param origins of the section `cors` */
export function frontFor(
  host: WorkerHost,
  lines: Lines<Ask, Piece>,
  options: ToolsConfig,
  origins: readonly string[],
): OwnRoute[] {
  const books = new Books(host, lines, options);
  const { bodyBytes } = options;
  return mcpRoutes({ access: new Access(options), lines, bodyBytes, origins, book: books.book });
}
