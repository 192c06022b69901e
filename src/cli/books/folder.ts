/** The state folder of a gateway that is not running, for commands that open its store themselves. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { markPathOf } from "../../keeper/store/mark.ts";
import { lockState } from "../lock.ts";

/** Path of the store in a state folder, which stays locked until this process ends. @throws Error with one sentence */
export function lockStore(folder: string): string {
  const path = join(folder, "weir.db");
  if (!existsSync(path) && !existsSync(markPathOf(path)))
    throw new Error(`the state folder ${folder} has no weir.db`);
  lockState({ kind: "folder", folder, named: true });
  return path;
}
