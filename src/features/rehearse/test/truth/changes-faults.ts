/** Faults in codecs, each one edit of the source. */
import type { FaultChange } from "./change.ts";

export const FAULTS: readonly FaultChange[] = [];
