/** The section as the code needs it: bytes and milliseconds. */
import { bytesIn, msIn } from "../../config/sections/amounts.ts";
import { filesSection } from "./section.ts";

export interface FileLimits {
  readonly where: string;
  /** Bytes of a file that comes with one request, and of all files of a path. */
  readonly max: number;
  readonly quota: number;
  /** Bytes of the files of one request. */
  readonly inline: number;
  /** Milliseconds. */
  readonly keepMs: number;
  readonly seesPath: boolean;
}

export function limitsOf(config: object): FileLimits {
  const { where, max, quota, keep, inline, share } = filesSection.of(config);
  return {
    ...{ where, max: bytesIn(max), quota: bytesIn(quota), inline: bytesIn(inline), keepMs: msIn(keep) },
    seesPath: share === "path",
  };
}
