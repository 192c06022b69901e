/** Which calls are captured. */
import type { Call } from "../../core/call.ts";
import { captureHeader } from "./headers.ts";

export interface CaptureRules {
  /** Names of keys, or paths that begin with a slash. */
  keys: readonly string[];
  header: boolean;
  /** 0 to 1. */
  share: number;
}

/** @param chance from 0 to less than 1, random */
export function isCaptured(
  { headers, key, principal }: Pick<Call, "headers" | "key" | "principal">,
  rules: CaptureRules,
  chance = Math.random(),
): boolean {
  const wish = wishOf({ headers });
  if (wish === "no") return false;
  if (rules.header && wish === "yes") return true;
  return chance < rules.share || rules.keys.some((named) => isOf(named, key, principal?.path));
}

/** The client forbids that its bodies are kept or looked at. */
export function forbids(call: Pick<Call, "headers">): boolean {
  return wishOf(call) === "no";
}

function wishOf({ headers }: Pick<Call, "headers">): string | undefined {
  return headers.get(captureHeader.name)?.trim().toLowerCase();
}

function isOf(named: string, name: string | undefined, path: string | undefined): boolean {
  if (!named.startsWith("/")) return named === name;
  return path !== undefined && isOnPath(named, path);
}

/** Whether a path is another one or below it. */
export function isOnPath(named: string, path: string): boolean {
  return named === "/" || path === named || path.startsWith(`${named}/`);
}
