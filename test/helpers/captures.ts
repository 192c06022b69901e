/**
 * Requests of real clients, read from `../shared/captures` beside the repository. They are not part of it: tests that use
 * them skip with a sentence when the folder is not there.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sharedPath } from "./shared.ts";

const FOLDER = sharedPath("captures");

export interface Capture {
  /** File and number: `claude-tool.jsonl#2`. */
  name: string;
  path: string;
  headers: [string, string][];
  body: Record<string, unknown>;
}

export const haveCaptures = existsSync(FOLDER);

export const NO_CAPTURES =
  "The captures are not beside the repository (../shared/captures): nothing to replay.";

/** The captured requests to one endpoint (`/v1/messages`), of the clients whose file name matches. */
export function captures(path: string, client: RegExp): Capture[] {
  if (!haveCaptures) return [];
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".jsonl") && client.test(file));
  return files.sort().flatMap((file) =>
    readFileSync(join(FOLDER, file), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Capture & { n: number })
      .filter((capture) => capture.path.split("?")[0]!.endsWith(path) && capture.body)
      .map((capture) => ({ ...capture, name: `${file}#${capture.n}` })),
  );
}
