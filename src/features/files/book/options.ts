/** What the books of files and of uploads need. */
import type { KeeperHost } from "../../../keeper/seams.ts";

export interface BookOptions {
  readonly host: Pick<KeeperHost, "read" | "write" | "envelope">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
