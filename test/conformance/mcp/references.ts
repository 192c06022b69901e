/** The servers that are judged, directly and through weir. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../helpers/serving.ts";
import { sharedPath } from "../../helpers/shared.ts";
import type { Installed } from "./install.ts";
import { serveReference } from "./reference.ts";

export interface Reference {
  readonly name: string;
  /** Of both eras: what the suite talks to directly. */
  readonly url: string;
  /** How weir finds a half of it: the URL and what the configuration says of its era. */
  readonly halves: Readonly<Record<"modern" | "legacy", { url: string; era: "auto" | "modern" | "legacy" }>>;
  stop(): void;
}

/** The reference of this repository. Each half is a server of its own that knows no other era, and weir finds out which. */
export function ownReference(): Reference {
  const both = serveReference();
  const modern = serveReference({ era: "modern" });
  const legacy = serveReference({ era: "legacy" });
  return {
    name: "reference.ts",
    url: both.url,
    halves: { modern: { url: modern.url, era: "auto" }, legacy: { url: legacy.url, era: "auto" } },
    stop() {
      for (const server of [both, modern, legacy]) server.stop();
    },
  };
}

/** Longest time until the suite's server listens, in milliseconds. */
const START_MS = 30_000;

/**
 * The reference server of the suite's authors, which the package of the suite lacks: `MCP_REFERENCE` names its file.
 * @returns undefined if it is not on this machine
 */
export async function officialReference({ folder }: Installed): Promise<Reference | undefined> {
  const file = process.env["MCP_REFERENCE"] ?? sharedPath("judges", "mcp-reference", "everything-server.ts");
  if (!existsSync(file)) return undefined;
  // What it imports is installed there.
  const copy = join(folder, "everything-server.ts");
  await Bun.write(copy, Bun.file(file));
  const port = freePort();
  const child = Bun.spawn([process.execPath, copy], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await listening(url);
  return {
    name: "everything-server.ts",
    url,
    halves: { modern: { url, era: "modern" }, legacy: { url, era: "legacy" } },
    stop: () => child.kill(),
  };
}

/** Waits until something answers. @throws Error when nothing does in time */
export async function listening(url: string): Promise<void> {
  const until = Date.now() + START_MS;
  while (!(await fetch(url).catch(() => undefined))) {
    if (Date.now() > until) throw new Error(`Nothing listens at ${url}.`);
    await Bun.sleep(50);
  }
}
