/** Which calls are captured. */
import type { Call } from "../core/call.ts";

export interface CaptureRules {
  /** Names of keys, or paths that begin with a slash. */
  keys: readonly string[];
  header: boolean;
  /** 0 to 1. */
  share: number;
}

/** The header with which a client asks to be captured (`yes`), or forbids it (`no`). */
const HEADER = "x-weir-capture";

/** Whether any call can be captured. */
export function capturesAny({ keys, header, share }: CaptureRules): boolean {
  return keys.length > 0 || header || share > 0;
}

/** @param chance from 0 to less than 1, random */
export function isCaptured(
  { headers, key, principal }: Pick<Call, "headers" | "key" | "principal">,
  rules: CaptureRules,
  chance = Math.random(),
): boolean {
  const wish = headers.get(HEADER)?.trim().toLowerCase();
  if (wish === "no") return false;
  if (rules.header && wish === "yes") return true;
  return chance < rules.share || rules.keys.some((named) => isOf(named, key, principal?.path));
}

function isOf(named: string, name: string | undefined, path: string | undefined): boolean {
  if (!named.startsWith("/")) return named === name;
  return path !== undefined && (named === "/" || path === named || path.startsWith(`${named}/`));
}
